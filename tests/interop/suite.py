"""What the parts of `run.py` share: the tool that is asked, and what disagreed."""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent.parent

LIMIT = 240.0
"""Seconds after which a job that should end is given up."""


class Suite:
    """What has been tried, and what disagreed."""

    def __init__(self, tool: str, folder: pathlib.Path) -> None:
        self.tool = tool
        self.folder = folder
        self.disagreements: list[str] = []

    def ask(self, *arguments: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
        """Runs the tool."""
        return subprocess.run([self.tool, *arguments], cwd=ROOT, capture_output=True, text=True)

    def convert(self, source: str | pathlib.Path, name: str, *options: str) -> pathlib.Path:
        """Writes a schedule in another form; the tool must be able to."""
        target = self.folder / name
        done = self.ask("convert", source, "-o", target, *options)
        if done.returncode != 0:
            sys.exit(f"{source} {options}: {done.stderr}")
        return target

    def verdict(self, path: pathlib.Path, *options: str) -> dict:
        """What the tool says of a schedule."""
        return json.loads(self.ask("verify", path, "--json", *options).stdout)

    def said_to_be_wrong(self, path: pathlib.Path) -> tuple[int, ...]:
        """The stages whose gradients the tool says swapped messages make wrong."""
        messages = [violation["message"] for violation in self.verdict(path)["violations"]]
        last = [int(found[1]) for message in messages if (found := re.search(r"(\d+) would be wrong", message))]
        return tuple(range(1 + max(last)))

    def expect(self, holds: bool, what: str) -> str:
        """A mark for a table; what does not hold is remembered."""
        if not holds:
            self.disagreements.append(what)
        return "" if holds else "  <-- DISAGREES"
