"""Runs the console blocks of a page as a reader would: one after the other, in one folder with the examples in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docs.fences import Fence

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ADDRESS = "http://127.0.0.1:8000"
"""Where the documents say the service is."""

PROMPT = "$ "
LONGEST_S = 120
COLUMNS = 100


class Session:
    """A folder in which the blocks of one page are run; `address` is that of a running service."""

    def __init__(self, folder: Path, address: str) -> None:
        self._folder = folder
        self._address = address
        shutil.copytree(EXAMPLES, folder / "examples")

    def save(self, fence: Fence) -> None:
        """Write a block that a reader saves as a file."""
        if fence.file is not None:
            (self._folder / fence.file).write_text(fence.text, encoding="utf-8")

    def output(self, command: str) -> str:
        """Run a command; return what a terminal would show."""
        done = subprocess.run(
            ["bash", "-c", command.replace(ADDRESS, self._address)],
            cwd=self._folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_S,
            check=False,
            text=True,
            encoding="utf-8",
        )
        return done.stdout.replace(self._address, ADDRESS)


def warm_up() -> None:
    """Compile the search for this machine, as the tutorial says to: documents show what it finds with it."""
    subprocess.run([sys.executable, "-m", "crosspipe.lattice.warm"], check=True, env=_environment())


def commands_of(text: str) -> Iterator[tuple[str, list[str]]]:
    """Split a console block into commands and the lines shown after each; a line ending in a backslash goes on."""
    command, shown = "", list[str]()
    for line in text.splitlines():
        if command.endswith("\\"):
            command = f"{command}\n{line}"
        elif line.startswith(PROMPT):
            if command:
                yield command, shown
            command, shown = line.removeprefix(PROMPT), []
        else:
            shown.append(line)
    if command:
        yield command, shown


def _environment() -> dict[str, str]:
    """Give the commands of this Python's environment first, and a plain terminal of a fixed width."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return os.environ | {"PATH": path, "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
