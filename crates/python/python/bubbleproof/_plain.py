"""Numbers, arrays and tables of Python as plain values, of which model and job files are made."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import InputError

if TYPE_CHECKING:
    from typing import TypeAlias, TypeGuard

    Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain]"

# The integers that a file can hold, and the decimals.
_MOST = 2**63
_DECIMALS = 18


def plain(value: Any, field: str) -> Plain:
    """The value as numbers, texts, lists and dictionaries. Arrays of NumPy and tensors of PyTorch become lists.

    Raises:
        InputError: if it is something else, or a number that no file can hold.
    """
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers, PyTorch's tensors
        value = value.tolist()
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if not -_MOST <= value < _MOST:
            raise InputError(f"{field} is {value}, which does not fit 64 bits", field=field)
        return value
    if isinstance(value, (Decimal, Fraction)):
        return plain(float(value), field) if value % 1 else plain(int(value), field)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{field} is {value}, but must be a finite number", field=field)
        # Whole numbers are whole, also in arrays of floating-point numbers. Files have so many decimals, and no more.
        return int(value) if value.is_integer() else round(value, _DECIMALS)
    if _is_table(value):
        return {_key(key, field): plain(each, f"{field}.{key}") for key, each in value.items() if each is not None}
    if _is_list(value):
        return [plain(each, f"{field}[{position}]") for position, each in enumerate(value)]
    kind = type(value).__name__
    raise InputError(f"{field} must be a number, a text, a list or an array, but is of type {kind}", field=field)


def _is_table(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable)


def _key(key: Any, field: str) -> str:
    if not isinstance(key, str):
        raise InputError(f"the keys of {field} must be texts, but one is {key!r}", field=field)
    return key


def toml(tables: Mapping[str, Any]) -> str:
    """The text of a file with these tables; values that are ``None`` are left out."""
    values = {_key(key, "the tables"): plain(value, str(key)) for key, value in tables.items() if value is not None}
    return _native.toml(json.dumps(values))
