"""Arrays of NumPy from columns of bytes. NumPy is imported when the first array is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt


def passes(
    kinds: bytes, places: tuple[bytes, bytes, bytes], times: tuple[bytes, bytes] | None = None
) -> npt.NDArray[np.void]:
    """The passes of a schedule, with their times where these are given."""
    import numpy as np

    of_times = [] if times is None else [("start", np.int64), ("end", np.int64)]
    of_places = [("device", np.uint32), ("stage", np.uint32), ("microbatch", np.uint32)]
    made = np.empty(len(kinds), np.dtype([("kind", "S1"), *of_places, *of_times]))
    made["kind"] = np.frombuffer(kinds, "S1")
    for (name, form), column in zip([*of_places, *of_times], [*places, *(times or ())], strict=True):
        made[name] = np.frombuffer(column, form)
    made.flags.writeable = False
    return made


def columns(passes: npt.NDArray[np.void]) -> dict[str, npt.NDArray[Any]]:
    """The same column by column, with kinds as text."""
    named = {name: passes[name] for name in passes.dtype.names or ()}
    named["kind"] = named["kind"].astype("U1")
    return named


def steps(passes: npt.NDArray[np.void], during: bytes, after: bytes) -> npt.NDArray[np.void]:
    """What is live from each start and each end of a device's passes on."""
    import numpy as np

    made = np.empty(2 * len(passes), [("time", np.int64), ("live", np.int64)])
    made["time"][::2], made["time"][1::2] = passes["start"], passes["end"]
    made["live"][::2], made["live"][1::2] = np.frombuffer(during, np.int64), np.frombuffer(after, np.int64)
    made.flags.writeable = False
    return made
