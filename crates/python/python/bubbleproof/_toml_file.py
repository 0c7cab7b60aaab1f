"""What models, jobs and families have in common: each is what a TOML file says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _files
from ._errors import FileError, InputError
from ._plain import toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from ._files import StrPath


class TomlFile:
    """Something that is read from TOML, and written as TOML."""

    __slots__ = ()

    @classmethod
    def from_toml(cls, text: str, *, file: str | None = None) -> Self:
        """What the text of a file says. ``file`` names it in errors.

        Raises:
            FileError: with the place of what is wrong.
        """
        raise NotImplementedError

    def to_toml(self) -> str:
        """The text of a file that reads as this."""
        raise NotImplementedError

    @classmethod
    def load(cls, path: StrPath) -> Self:
        """What a file says.

        Raises:
            OSError: if it cannot be read.
            FileError: if it is wrong, with the place.
        """
        return cls.from_toml(_files.read(path), file=str(path))

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Self:
        """What these tables say, which are those of a file.

        Raises:
            InputError: if one is wrong; ``field`` names the key.
        """
        text = toml(tables)
        try:
            return cls.from_toml(text)
        except FileError as error:
            # Nobody has written this text, so that a place in it would tell nothing.
            raise InputError(error.message, error.help, error.field) from None

    def save(self, path: StrPath) -> None:
        """Writes a file, as a whole or not at all."""
        _files.write(path, self.to_toml())
