"""The fenced blocks of a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FENCE = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block.

    Attributes
    ----------
    page, line
        Where it stands; the line is that of its opening fence.
    language, mode
        First word of the info string, and the rest of it.
    text
        What stands inside.
    file
        Name under which a reader saves it (`<!-- file: NAME -->` stands above the fence), else None.
    start, end
        Where `text` stands in the page, in characters.
    """

    page: Path
    line: int
    language: str
    mode: str
    text: str
    file: str | None
    start: int
    end: int

    @property
    def place(self) -> str:
        """Name it in messages."""
        return f"{self.page.name}:{self.line}"


def fences(page: Path) -> list[Fence]:
    """List the fenced blocks of a page in order."""
    source = page.read_text(encoding="utf-8")
    return [_fence(page, source, found) for found in FENCE.finditer(source)]


def _fence(page: Path, source: str, found: re.Match[str]) -> Fence:
    language, _, mode = found["info"].strip().partition(" ")
    line = source.count("\n", 0, found.start("info")) + 1
    return Fence(page, line, language, mode, found["text"], found["file"], found.start("text"), found.end("text"))
