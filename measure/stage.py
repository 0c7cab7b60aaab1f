"""A stage: a stack of blocks, run pass by pass."""

from torch import Tensor

import ledger
from layers import Block, Loss
from schedule import Pass


class Stage:
    """Runs passes and keeps, for every microbatch, what later passes need, block by block."""

    def __init__(self, blocks: list[Block], loss: Loss | None, book: ledger.Ledger) -> None:
        self.blocks = blocks
        self.loss = loss
        self.book = book
        self.inputs: dict[int, Tensor] = {}
        self.saved: dict[int, list] = {}
        self.pending: dict[int, list] = {}

    def run(self, p: Pass, taken: Tensor | None, recomputed: bool) -> Tensor | None:
        """Runs a pass on what it takes from a neighbouring stage; the result is for the next one, if it has one."""
        match p.kind:
            case "F" if recomputed:
                return self.forward_once(p.microbatch, taken)
            case "F":
                return self.forward(p.microbatch, taken)
            case "R":
                self.recompute(p.microbatch)
                return None
            case "W":
                self.weight_gradient(p.microbatch)
                return None
            case _:
                return self.input_gradient(p.microbatch, taken, fused=p.kind == "B")

    def idle(self) -> bool:
        """Whether nothing is kept."""
        return not (self.inputs or self.saved or self.pending)

    def forward(self, microbatch: int, x: Tensor, count: bool = True) -> Tensor | None:
        kept = self.saved[microbatch] = []
        for block in self.blocks:
            x, saved = block.forward(x)
            kept.append(saved)
            self.book.hold(saved)
            self.book.note()
        if self.loss is None:
            return x
        difference = self.loss.forward(x, microbatch, count)
        kept.append(difference)
        self.book.hold(difference)
        self.book.note()
        return None

    def forward_once(self, microbatch: int, x: Tensor) -> Tensor | None:
        """A forward that will be recomputed: keeps its input only."""
        self.inputs[microbatch] = x
        self.book.hold(x)
        self.book.note()
        for block in self.blocks:
            x = block.forward(x)[0]
        if self.loss is None:
            return x
        self.loss.forward(x, microbatch)
        return None

    def recompute(self, microbatch: int) -> None:
        x = self.inputs.pop(microbatch)
        self.forward(microbatch, x, count=False)
        self.book.drop(ledger.storages(x))
        self.book.note()

    def input_gradient(self, microbatch: int, dy: Tensor | None, fused: bool) -> Tensor:
        """I, or with the weight gradient of every block straight after its input gradient B."""
        kept = self.saved.pop(microbatch)
        left = []
        if self.loss is not None:
            difference = kept.pop()
            dy = self.loss.input_gradient(difference)
            self.book.drop(ledger.storages(difference))
            del difference
        for block in reversed(self.blocks):
            saved = kept.pop()
            gone = ledger.storages(saved)
            dy, pending = block.input_gradient(saved, dy)
            del saved
            # First: what is kept from now on may lie where something of this has been freed.
            self.book.drop(gone)
            if fused:
                block.weight_gradient(pending)
            else:
                left.append(pending)
                self.book.hold(pending)
            del pending
            self.book.note()
        if not fused:
            self.pending[microbatch] = left
        return dy

    def weight_gradient(self, microbatch: int) -> None:
        left = self.pending.pop(microbatch)
        for block in self.blocks:
            pending = left.pop()
            gone = ledger.storages(pending)
            block.weight_gradient(pending)
            self.book.drop(gone)
            self.book.note()
