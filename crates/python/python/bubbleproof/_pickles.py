"""Pickles say in which form they are, so that another version refuses what it does not know."""

from __future__ import annotations

from . import _native
from ._errors import InputError

FORM = 1
"""The form of the pickles of this version."""


def check(form: int, what: str) -> None:
    """Checks that a pickle has the form of this version.

    Raises:
        InputError: if it has another one.
    """
    if form != FORM:
        raise InputError(
            f"a pickle of a {what} in form {form}, but bubbleproof {_native.VERSION} reads form {FORM}",
            f"keep a {what} as a file: `save` and `load` work across versions",
        )
