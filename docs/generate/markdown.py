"""Tables and cells of Markdown."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


WIDTH = 118


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; columns in which every row is empty are left out."""
    cells = [[cell(text) for text in row] for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place] for row in cells)]
    lines = [
        [columns[place] for place in kept],
        ["---"] * len(kept),
        *([row[place] for place in kept] for row in cells),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(text: str) -> str:
    """Write text that may stand in a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def paragraph(text: str) -> str:
    """Write text as lines of readable length."""
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def code(text: str) -> str:
    """Write text as code."""
    return f"`{text}`"


def bullets(lines: Iterable[str]) -> str:
    """Write a list."""
    return "\n".join(f"- {' '.join(line.split())}" for line in lines)


def sentence(docstring: str | None) -> str:
    """Take the first paragraph of a docstring, on one line."""
    return " ".join((docstring or "").strip().split("\n\n", maxsplit=1)[0].split())
