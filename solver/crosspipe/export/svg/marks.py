"""The few SVG elements the picture is made of, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.export.svg.numbers import px, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crosspipe.export.svg.blocks import Block


def rect(x: float, y: float, width: float, height: float, fill: str, extra: str = "") -> str:
    """Draw a rectangle."""
    size = f'width="{px(width)}" height="{px(height)}"'
    return f'<rect x="{px(x)}" y="{px(y)}" {size} fill="{fill}"{" " + extra if extra else ""}/>'


def words(x: float, y: float, raw: str, size: float, fill: str, anchor: str = "start", weight: int = 400) -> str:
    """Set a line of text with its baseline at y; `raw` is escaped here."""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    bold = "" if weight == 400 else f' font-weight="{weight}"'
    return f'<text x="{px(x)}" y="{px(y)}" font-size="{px(size)}" fill="{fill}"{place}{bold}>{text(raw)}</text>'


def vertical(x: float, top: float, bottom: float, colour: str, extra: str = "") -> str:
    """Draw a vertical hairline."""
    return f'<path d="M{px(x)} {px(top)}V{px(bottom)}" stroke="{colour}"{" " + extra if extra else ""}/>'


def band(blocks: Iterable[Block], top: float, height: float) -> list[str]:
    """Draw blocks of one row, one path per fill; a hair of room is left between blocks that are wide enough."""
    outlines: dict[str, list[str]] = {}
    for block in blocks:
        width = block.right - block.left
        width -= 0.6 if width > 3 else 0
        outlines.setdefault(block.fill, []).append(
            f"M{px(block.left)} {px(top)}h{px(width)}v{px(height)}h{px(-width)}z"
        )
    return [f'<path fill="{fill}" d="{"".join(parts)}"/>' for fill, parts in outlines.items()]
