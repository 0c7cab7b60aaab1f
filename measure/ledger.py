"""The bytes of activations that a device holds."""

from collections.abc import Callable

import layers


class Ledger:
    """Counts storages, each once however many tensors share it, and notes the sum after every change."""

    def __init__(self, stamp: Callable[[], object]) -> None:
        self.stamp = stamp
        self.begin()

    def begin(self) -> None:
        """Forgets the notes of the last iteration. Nothing may be held."""
        self.held: dict[int, tuple[int, int]] = {}
        self.bytes = 0
        self.notes: list[tuple[object, int]] = []

    def hold(self, kept) -> None:
        """Counts what is kept from now on."""
        for tensor in layers.tensors(kept):
            storage = tensor.untyped_storage()
            times, size = self.held.get(storage.data_ptr(), (0, storage.nbytes()))
            self.held[storage.data_ptr()] = (times + 1, size)
            if times == 0:
                self.bytes += size

    def drop(self, storages: list[int]) -> None:
        """Counts storages no longer, once for each time they are named."""
        for pointer in storages:
            times, size = self.held.pop(pointer)
            if times > 1:
                self.held[pointer] = (times - 1, size)
            else:
                self.bytes -= size

    def note(self) -> None:
        """Notes the sum as it is now."""
        self.notes.append((self.stamp(), self.bytes))


def storages(kept) -> list[int]:
    """The storages of something kept, by which it can be dropped after it was taken apart."""
    return [tensor.untyped_storage().data_ptr() for tensor in layers.tensors(kept)]
