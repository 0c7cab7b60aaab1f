"""Reading and writing files: whole or not at all.

What takes long to import is imported where it is used: whoever imports the package need not wait for it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory
    from typing import TypeAlias

    StrPath: TypeAlias = str | os.PathLike[str]


def read(path: StrPath) -> str:
    """The text of a file, which may be packed with gzip.

    Raises:
        OSError: if it cannot be read or unpacked.
    """
    content = Path(path).read_bytes()
    if content.startswith(b"\x1f\x8b"):
        import gzip
        import zlib

        try:
            content = gzip.decompress(content)
        except (EOFError, zlib.error) as error:
            raise gzip.BadGzipFile(f"{path}: the gzip file is damaged: {error}") from error
    return content.decode()


def folder() -> TemporaryDirectory[str]:
    """A folder that is gone after the ``with``."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory()


def write(path: StrPath, text: str) -> None:
    """Writes a file aside and renames it, so that no reader sees half of it."""
    import tempfile

    path = Path(path)
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
