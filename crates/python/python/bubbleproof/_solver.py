"""Where the SMT solver is."""

from __future__ import annotations

import os

# The library asks the program that this names, or else one on the PATH.
VARIABLE = "BUBBLEPROOF_SMT_SOLVER"


def look_beside_python() -> None:
    """Names the solver that ``pip install bubbleproof[smt]`` has put beside this Python, if there is no other.

    The programs of a virtual environment are on the PATH only where it is activated.
    """
    if os.environ.get(VARIABLE):
        return
    import shutil
    import sysconfig

    if shutil.which("z3") or shutil.which("cvc5"):
        return
    beside = shutil.which("z3", path=sysconfig.get_path("scripts"))
    if beside is not None:
        os.environ[VARIABLE] = beside
