"""Layers whose forward, input gradient and weight gradient are three separate computations.

A layer has three methods.

    forward(x)                  -> y, saved        saved is what the input gradient needs
    input_gradient(saved, dy)   -> dx, pending     pending is what the weight gradient needs
    weight_gradient(pending)                       adds to the gradients

`saved` and `pending` are nested tuples and lists of tensors. Activations are matrices: a row for each token.
No formula here is derived by autograd, and nothing is computed in one of the three that belongs to another.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

aten = torch.ops.aten

EPSILON = 1e-5
"""What layer norm adds to the variance."""


def tensors(kept) -> Iterator[Tensor]:
    """The tensors of something that is kept."""
    if isinstance(kept, Tensor):
        yield kept
    else:
        for part in kept:
            yield from tensors(part)


class Linear:
    """y = x A' + b. The input gradient needs no activation at all, the weight gradient needs x and dy."""

    def __init__(self, values: dict[str, Tensor], gradients: dict[str, Tensor], name: str) -> None:
        self.weight, self.bias = values[f"{name}.weight"], values[f"{name}.bias"]
        self.to_weight, self.to_bias = gradients[f"{name}.weight"], gradients[f"{name}.bias"]

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight.t()), x

    def input_gradient(self, saved, dy):
        return dy @ self.weight, (saved, dy)

    def weight_gradient(self, pending):
        x, dy = pending
        self.to_weight.addmm_(dy.t(), x)
        self.to_bias.add_(dy.sum(0))


class Norm:
    """Layer norm with a scale and a shift."""

    def __init__(self, values: dict[str, Tensor], gradients: dict[str, Tensor], name: str) -> None:
        self.weight, self.bias = values[f"{name}.weight"], values[f"{name}.bias"]
        self.to_weight, self.to_bias = gradients[f"{name}.weight"], gradients[f"{name}.bias"]

    def forward(self, x):
        y, mean, scale = torch.native_layer_norm(x, self.weight.shape, self.weight, self.bias, EPSILON)
        return y, (x, mean, scale)

    def backward(self, saved, dy, wanted):
        x, mean, scale = saved
        return aten.native_layer_norm_backward(dy, x, self.weight.shape, mean, scale, self.weight, self.bias, wanted)

    def input_gradient(self, saved, dy):
        return self.backward(saved, dy, [True, False, False])[0], (saved, dy)

    def weight_gradient(self, pending):
        saved, dy = pending
        _, weight, bias = self.backward(saved, dy, [False, True, True])
        self.to_weight.add_(weight)
        self.to_bias.add_(bias)


class Gelu:
    """y = x Phi(x)."""

    def forward(self, x):
        return aten.gelu(x), x

    def input_gradient(self, saved, dy):
        return aten.gelu_backward(dy, saved), ()

    def weight_gradient(self, pending):
        pass


class Attention:
    """softmax(q k' / sqrt(width)) v for every head. Takes q, k and v side by side; keeps the probabilities."""

    def __init__(self, heads: int, sequence: int) -> None:
        self.heads = heads
        self.sequence = sequence

    def split(self, x, parts):
        """The parts of every row by sequence, head and token; a view."""
        width = x.shape[1] // (parts * self.heads)
        return x.view(-1, self.sequence, parts, self.heads, width).permute(2, 0, 3, 1, 4)

    def forward(self, x):
        q, k, v = self.split(x, 3)
        scores = q @ k.transpose(-2, -1)
        probabilities = torch.softmax(scores.mul_(q.shape[-1] ** -0.5), -1)
        y = (probabilities @ v).transpose(1, 2).reshape(x.shape[0], -1)
        return y, (x, probabilities)

    def input_gradient(self, saved, dy):
        x, probabilities = saved
        q, k, v = self.split(x, 3)
        (dy,) = self.split(dy, 1)
        dx = torch.empty_like(x)
        dq, dk, dv = self.split(dx, 3)
        dv.copy_(probabilities.transpose(-2, -1) @ dy)
        scores = aten._softmax_backward_data(dy @ v.transpose(-2, -1), probabilities, -1, x.dtype)
        scores.mul_(q.shape[-1] ** -0.5)
        dq.copy_(scores @ k)
        dk.copy_(scores.transpose(-2, -1) @ q)
        return dx, ()

    def weight_gradient(self, pending):
        pass


class Residual:
    """y = x + what a chain of layers makes of x."""

    def __init__(self, *chain) -> None:
        self.chain = chain

    def forward(self, x):
        y, saved = x, []
        for layer in self.chain:
            y, kept = layer.forward(y)
            saved.append(kept)
        return x + y, saved

    def input_gradient(self, saved, dy):
        """Takes `saved` apart as it goes, so that every tensor is freed as soon as nothing needs it."""
        dx, pending = dy, []
        for layer in reversed(self.chain):
            dx, kept = layer.input_gradient(saved.pop(), dx)
            pending.append(kept)
        return dy + dx, pending

    def weight_gradient(self, pending):
        """Takes `pending` apart as it goes."""
        for layer in self.chain:
            layer.weight_gradient(pending.pop())


class Block:
    """A transformer block: attention and a two-layer perceptron, each behind a layer norm and beside a skip."""

    def __init__(self, values: dict[str, Tensor], gradients: dict[str, Tensor], heads: int, sequence: int) -> None:
        def of(layer, name):
            return layer(values, gradients, name)

        self.halves = (
            Residual(of(Norm, "norm1"), of(Linear, "qkv"), Attention(heads, sequence), of(Linear, "proj")),
            Residual(of(Norm, "norm2"), of(Linear, "up"), Gelu(), of(Linear, "down")),
        )

    def forward(self, x):
        first, second = self.halves
        x, saved = first.forward(x)
        y, more = second.forward(x)
        return y, [saved, more]

    def input_gradient(self, saved, dy):
        first, second = self.halves
        dy, pending = second.input_gradient(saved.pop(), dy)
        dx, more = first.input_gradient(saved.pop(), dy)
        return dx, [pending, more]

    def weight_gradient(self, pending):
        first, second = self.halves
        first.weight_gradient(pending.pop())
        second.weight_gradient(pending.pop())


class Loss:
    """Half the squared distance to a target, over all microbatches and elements on average."""

    def __init__(self, targets: Tensor, total: Tensor) -> None:
        self.targets = targets
        self.total = total
        self.scale = 1.0 / targets.numel()

    def forward(self, y, microbatch, count=True):
        """What must be kept for the gradient. Adds to the loss, but not where it is recomputed."""
        difference = y - self.targets[microbatch]
        if count:
            self.total.add_(difference.float().square().sum(), alpha=0.5 * self.scale)
        return difference

    def input_gradient(self, saved):
        return saved * self.scale
