"""The model: weights and data from a seed, its stages, and its gradients by autograd without a pipeline."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional
from torch.optim import SGD, AdamW, Optimizer

from layers import EPSILON, Block, Loss
from ledger import Ledger
from schedule import Schedule
from stage import Stage

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2}
"""The largest error of a gradient, relative to the largest entry of its tensor, that is still rounding.

A model of eight blocks and sixteen microbatches has errors of about 3e-7 and 2e-2. Where one of the sixteen weight
gradients is missing the error is 7e-2 or more.
"""

OPTIMIZERS = {"adamw": AdamW, "sgd": SGD}

Allocate = Callable[[tuple[int, ...], torch.dtype], Tensor]
"""How tensors of zeros are made that all devices and the host can see."""


@dataclass(frozen=True)
class Sizes:
    """How large the model and a microbatch are."""

    layers: tuple[int, ...]
    """Blocks of every stage."""
    hidden: int
    heads: int
    sequence: int
    microbatch_size: int
    dtype: str
    seed: int = 0

    def __post_init__(self) -> None:
        if self.hidden % self.heads != 0 or min(self.layers) < 1:
            raise ValueError(f"{self.heads} heads do not divide hidden size {self.hidden}, or a stage has no layer")

    @property
    def tokens(self) -> int:
        """The rows of a microbatch."""
        return self.microbatch_size * self.sequence

    @property
    def activation(self) -> tuple[int, int]:
        """The shape of what stages exchange."""
        return self.tokens, self.hidden

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """The shapes of a block's weights."""
        wide = 4 * self.hidden
        linear = {"qkv": (3 * self.hidden, self.hidden), "proj": (self.hidden, self.hidden)}
        linear |= {"up": (wide, self.hidden), "down": (self.hidden, wide)}
        shapes = {f"{name}.weight": shape for name, shape in linear.items()}
        shapes |= {f"{name}.bias": shape[:1] for name, shape in linear.items()}
        return shapes | {f"{norm}.{part}": (self.hidden,) for norm in ("norm1", "norm2") for part in ("weight", "bias")}

    def block(self) -> int:
        """The numbers in the weights of a block."""
        return sum(map(math.prod, self.parameters().values()))

    def named(self, flat: Tensor) -> dict[str, Tensor]:
        """The weights of a block, or their gradients, of which the flat tensor has one behind the other."""
        shapes = self.parameters()
        parts = flat.split([math.prod(shape) for shape in shapes.values()])
        return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


class Transformer:
    """The weights of all blocks with room for their gradients, and the data of all microbatches.

    Blocks are numbered through the whole model, so that models cut into other stages are the same model.
    """

    def __init__(
        self,
        sizes: Sizes,
        microbatches: int,
        allocate: Allocate,
        homes: list[torch.device],
        first: "Transformer | None" = None,
    ) -> None:
        """`homes` are the devices of torch on which the blocks live, one for each; random numbers are the first's.

        A further replica has the weights of the `first` one, and the data that is drawn next.
        """
        self.sizes = sizes
        self.microbatches = microbatches
        dtype = DTYPES[sizes.dtype]
        self.generator = first.generator if first else torch.Generator(homes[0]).manual_seed(sizes.seed)

        def draw(tensor, scale=1.0, centre=0.0):
            values = torch.randn(tensor.shape, generator=self.generator, device=self.generator.device)
            tensor.copy_(values.mul_(scale).add_(centre))
            return tensor

        self.inputs = [draw(allocate(sizes.activation, dtype).to(homes[0])) for _ in range(microbatches)]
        self.targets = draw(allocate((microbatches, *sizes.activation), dtype).to(homes[-1]))
        self.loss = allocate((), torch.float32).to(homes[-1])
        self.flat_values = [allocate((sizes.block(),), dtype).to(home) for home in homes]
        self.flat_gradients = [allocate((sizes.block(),), dtype).to(home) for home in homes]
        self.values = [sizes.named(block) for block in self.flat_values]
        self.gradients = [sizes.named(block) for block in self.flat_gradients]
        for k, block in enumerate(self.values):
            for name, value in block.items():
                if first:
                    value.copy_(first.values[k][name])
                else:
                    draw(value, *spread(name, value.shape))

    def cut(self, sizes: Sizes) -> "Transformer":
        """The same model, in the same memory, cut into other stages."""
        assert sum(sizes.layers) == len(self.values)
        other = copy.copy(self)
        other.sizes = sizes
        return other

    def begin(self) -> None:
        """Sets the gradients and the loss to zero."""
        self.loss.zero_()
        for block in self.flat_gradients:
            block.zero_()

    def first_block(self, stage: int) -> int:
        """The number of the first block of a stage."""
        return sum(self.sizes.layers[:stage])

    def blocks(self, stage: int) -> range:
        """The numbers of the blocks of a stage."""
        return range(self.first_block(stage), self.first_block(stage + 1))

    def stages(self, schedule: Schedule, device: int, book: Ledger) -> dict[int, Stage]:
        """The stages of a device."""
        held = {}
        for stage in schedule.placement[device]:
            blocks = [
                Block(self.values[k], self.gradients[k], self.sizes.heads, self.sizes.sequence)
                for k in self.blocks(stage)
            ]
            loss = Loss(self.targets, self.loss) if stage == schedule.stages - 1 else None
            held[stage] = Stage(blocks, loss, book)
        return held


def optimizer(name: str, weights: list[tuple[Tensor, Tensor]]) -> Optimizer:
    """An optimiser of weights, each given with its gradient.

    With a learning rate of 0 a step does all its work and leaves the weights as they are, to which the gradients of
    the next iteration are compared.
    """
    leaves = []
    for value, gradient in weights:
        leaves.append(value.detach())
        leaves[-1].grad = gradient
    return OPTIMIZERS[name](leaves, lr=0.0)


def load(name: str) -> None:
    """Makes a step of an optimiser, so that what PyTorch loads for its first one is loaded before devices are timed."""
    with torch.inference_mode():
        optimizer(name, [(torch.zeros(1), torch.zeros(1))]).step()


def spread(name: str, shape: tuple[int, ...]) -> tuple[float, float]:
    """The deviation and the mean of a weight's first values. None is zero, so that every term of a gradient shows."""
    if len(shape) == 2:
        return 1 / math.sqrt(shape[1]), 0.0
    return 0.1, 1.0 if name in ("norm1.weight", "norm2.weight") else 0.0


def relative(found: Tensor, expected: Tensor) -> float:
    """The largest difference, relative to the largest value expected."""
    expected = expected.to(found.device)
    error = float((found.float() - expected).abs().max() / expected.abs().max())
    return error if math.isfinite(error) else math.inf


def apart(gradients: list[dict[str, Tensor]], reference: "Reference") -> float:
    """The largest error of any gradient, relative to the largest entry of its tensor."""
    pairs = zip(gradients, reference.gradients, strict=True)
    return max(relative(ours[name], theirs[name]) for ours, theirs in pairs for name in theirs)


class Reference:
    """The gradients and the losses of the same model, in float32, by autograd, one microbatch after the other.

    One model computes the data of all replicas, and the gradients are of the mean of their losses. Written with the
    functions of `torch.nn.functional`: it shares no formula with the stages.
    """

    def __init__(self, models: list[Transformer], allocate: Allocate) -> None:
        """Makes room for them, where the model is. The `models` are those of all replicas."""

        def room(tensor):
            return allocate(tuple(tensor.shape), torch.float32).to(tensor.device)

        self.models = models
        self.losses = [room(model.loss) for model in models]
        self.norm = room(models[0].loss)
        self.gradients = [{name: room(value) for name, value in block.items()} for block in models[0].values]

    def compute(self) -> None:
        first, sizes = self.models[0], self.models[0].sizes
        weights = [{n: v.detach().float().requires_grad_() for n, v in block.items()} for block in first.values]
        for model, total in zip(self.models, self.losses, strict=True):
            for microbatch in range(model.microbatches):
                y = model.inputs[microbatch].float()
                for block in weights:
                    y = plain_block(block, y.to(block["norm1.bias"].device), sizes)
                target = model.targets[microbatch].float().to(y.device)
                loss = 0.5 * functional.mse_loss(y, target) / model.microbatches
                (loss / len(self.models)).backward()
                total += loss.detach().to(total.device)
        squares = 0.0
        for block, room in zip(weights, self.gradients, strict=True):
            for name, weight in block.items():
                room[name].copy_(weight.grad)
                squares += float(weight.grad.double().square().sum())
        self.norm.fill_(math.sqrt(squares))


def plain_block(weights: dict[str, Tensor], x: Tensor, sizes: Sizes) -> Tensor:
    """A block as one would write it for autograd."""

    def norm(name, x):
        return functional.layer_norm(x, (sizes.hidden,), weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)

    def linear(name, x):
        return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def heads(x):
        return x.unflatten(0, (-1, sizes.sequence)).unflatten(2, (sizes.heads, -1)).transpose(1, 2)

    q, k, v = (heads(part) for part in linear("qkv", norm("norm1", x)).chunk(3, dim=1))
    attended = functional.scaled_dot_product_attention(q, k, v)
    x = x + linear("proj", attended.transpose(1, 2).flatten(2).flatten(0, 1))
    return x + linear("down", functional.gelu(linear("up", norm("norm2", x))))
