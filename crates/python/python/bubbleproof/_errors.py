"""The exceptions of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._replay import Violation


class BubbleproofError(Exception):
    """Everything that this package raises on its own account."""

    # The file that an exception is defined in is no part of what it is called.
    __module__ = "bubbleproof"

    def __init_subclass__(cls) -> None:
        cls.__module__ = BubbleproofError.__module__


class InputError(BubbleproofError, ValueError):
    """What was given is wrong.

    Attributes:
        message: What is wrong.
        help: What to write instead, if there is more to say.
        field: The argument or the key that it is about, such as ``"time.forward"``, where it is about one.
    """

    def __init__(self, message: str, help: str | None = None, field: str | None = None) -> None:
        super().__init__(message, help, field)
        self.message = message
        self.help = help
        self.field = field

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}\n  help: {self.help}"


class FileError(InputError):
    """A file is wrong, at a place in it.

    Attributes:
        file: The name of the file, if it has one.
        line: The line, from 1.
        column: The column, from 1, in characters.
    """

    def __init__(
        self,
        message: str,
        file: str | None,
        line: int,
        column: int,
        help: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message, help, field)
        self.args = (message, file, line, column, help, field)
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.file or '<text>'}:{self.line}:{self.column}: {super().__str__()}"


class CertificateError(InputError):
    """A schedule has no certificate, or one that does not hold."""


class InvalidScheduleError(BubbleproofError, ValueError):
    """A schedule breaks rules under a model.

    Attributes:
        violations: Everything that is wrong, by device and position.
    """

    def __init__(self, violations: Sequence[Violation]) -> None:
        super().__init__(violations)
        self.violations = tuple(violations)

    def __str__(self) -> str:
        first, *others = self.violations
        return first.message if not others else f"{first.message} (and {len(others)} more)"


class InfeasibleError(BubbleproofError):
    """No schedule keeps to the memory limits."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message, help)
        self.message = message
        self.help = help

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message}\n  help: {self.help}"


class NoAnswerError(InfeasibleError):
    """Nothing was found within the limits; whether there is something is not known."""


class DefectError(BubbleproofError, RuntimeError):
    """Two parts of this package contradict each other. Please report it, with what led to it."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)


class UnsupportedTorchError(BubbleproofError, ImportError):
    """PyTorch is missing, or of a version that this package was not tested with."""
