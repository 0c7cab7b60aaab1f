"""Replicas of the pipeline: the same model on different data, and what they do together.

Every replica has a share of each block, an equal part of its weights and gradients laid end to end. What replicas do
together is a list of phases, which each of them runs on its own memory and that of the others: none begins a phase
before all have ended the one before. How they wait for each other is the executor's business.
"""

import contextlib
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from schedule import Schedule
from transformer import Optimizer, Reference, Sizes, Transformer, apart, optimizer, relative

Phase = Callable[[], None]

Reading = Callable[[int], contextlib.AbstractContextManager]
"""In the context that it gives, what the other replica with this number holds can be read."""


class Replicas:
    """The models of all replicas."""

    def __init__(self, models: list[Transformer], sharded: bool = False) -> None:
        """Where the optimiser is `sharded`, a replica has the state for its share only, and updates only that."""
        self.models = models
        self.sharded = sharded

    @property
    def count(self) -> int:
        return len(self.models)

    @property
    def sizes(self) -> Sizes:
        return self.models[0].sizes

    def cut(self, sizes: Sizes) -> "Replicas":
        """The same models, in the same memory, cut into other stages."""
        return Replicas([model.cut(sizes) for model in self.models], self.sharded)

    def share(self, tensor: Tensor, rank: int) -> Tensor:
        """The share of a replica in a flat tensor."""
        return tensor.tensor_split(self.count)[rank]

    def begin(self) -> None:
        """Before an iteration: no gradients, and, where weights are to be gathered, none but the share of each replica.

        An iteration in which a weight is not gathered has gradients that are no numbers.
        """
        for rank, model in enumerate(self.models):
            model.begin()
            for block in model.flat_values if self.sharded else []:
                for other in range(self.count):
                    if other != rank:
                        self.share(block, other).fill_(math.nan)

    def optimizers(self, name: str | None, schedule: Schedule, device: int, rank: int) -> dict[int, Optimizer]:
        """The optimisers of the stages of a device, if there are any."""
        model, made = self.models[rank], {}
        for stage in schedule.placement[device] if name else []:
            if self.sharded:
                flat = [(model.flat_values[k], model.flat_gradients[k]) for k in model.blocks(stage)]
                weights = [(self.share(value, rank), self.share(gradient, rank)) for value, gradient in flat]
            else:
                weights = [(v, model.gradients[k][n]) for k in model.blocks(stage) for n, v in model.values[k].items()]
            made[stage] = optimizer(name, weights)
        return made

    def error(self, reference: Reference, norms: list[Tensor]) -> float:
        """The largest relative error of any gradient, loss or norm of all gradients.

        With a sharded optimiser no replica has all gradients, and the shares of all are put together.
        """
        losses = [relative(model.loss, loss) for model, loss in zip(self.models, reference.losses, strict=True)]
        found = [model.gradients for model in self.models]
        if self.sharded:
            found = [self.assembled()]
        gradients = [apart(one, reference) for one in found]
        return max([*losses, *gradients, *(relative(norm, reference.norm) for norm in norms)])

    def assembled(self) -> list[dict[str, Tensor]]:
        """The gradients of all blocks, every share from the replica whose it is."""
        blocks = zip(*(model.flat_gradients for model in self.models), strict=True)
        flat = [
            torch.cat([self.share(one, rank).to(block[0].device) for rank, one in enumerate(block)]) for block in blocks
        ]
        return [self.sizes.named(block) for block in flat]


class Member:
    """One replica, as a device of it takes part in what all of them do."""

    def __init__(self, replicas: Replicas, rank: int, reading: Reading = contextlib.nullcontext) -> None:
        self.replicas = replicas
        self.rank = rank
        self.reading = reading

    def phases(self, work: str, stage: int) -> list[Phase]:
        """What this replica does for `reduce` or `gather`."""
        gradients = [model.flat_gradients for model in self.replicas.models]
        if work == "gather":
            return [lambda: self.collect([model.flat_values for model in self.replicas.models], stage)]
        if self.replicas.sharded:
            return [lambda: self.mean(gradients, stage)]
        return [lambda: self.mean(gradients, stage), lambda: self.collect(gradients, stage)]

    def of_stage(self, tensors: list[list[Tensor]], stage: int) -> Iterator[tuple[Tensor, ...]]:
        """The blocks of a stage, each in all replicas."""
        for k in self.replicas.models[self.rank].blocks(stage):
            yield tuple(replica[k] for replica in tensors)

    def others(self) -> list[int]:
        """The other replicas, beginning with the next one, so that they do not all read from the same."""
        return [(self.rank + k) % self.replicas.count for k in range(1, self.replicas.count)]

    def mean(self, tensors: list[list[Tensor]], stage: int) -> None:
        """Turns its own share into the mean over all replicas (reduce-scatter)."""
        for block in self.of_stage(tensors, stage):
            own = self.replicas.share(block[self.rank], self.rank)
            for other in self.others():
                with self.reading(other):
                    own.add_(self.replicas.share(block[other], self.rank).to(own.device, non_blocking=True))
            own.div_(self.replicas.count)

    def collect(self, tensors: list[list[Tensor]], stage: int) -> None:
        """Copies the share of every other replica (all-gather)."""
        for block in self.of_stage(tensors, stage):
            for other in self.others():
                with self.reading(other):
                    own = self.replicas.share(block[self.rank], other)
                    own.copy_(self.replicas.share(block[other], other), non_blocking=True)

    def squares(self, stage: int) -> Iterator[Tensor]:
        """The sums of squares of its share of the gradients, block by block.

        In double precision: a sum of so many floats would be too far off.
        """
        for k in self.replicas.models[self.rank].blocks(stage):
            own = self.replicas.share(self.replicas.models[self.rank].flat_gradients[k], self.rank)
            yield torch.linalg.vector_norm(own, dtype=torch.float64).square()
