"""The command-line tool: ``bubbleproof`` and ``python -m bubbleproof``."""

from __future__ import annotations

import signal
import sys

from . import _native
from ._solver import look_beside_python


def main() -> int:
    """Runs the tool with the arguments of this process, and returns its exit status."""
    # The tool ends its searches on Ctrl-C by itself, and keeps what they have found.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    look_beside_python()
    return _native.tool(["bubbleproof", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
