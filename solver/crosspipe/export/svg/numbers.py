"""Numbers and text as they stand in the picture: short, rounded, escaped."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape

NS_PER_MS = 1_000_000


def px(value: float) -> str:
    """Write a coordinate with at most two decimals and no needless zero."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def ms(time_ns: int) -> str:
    """Write a time for people, in ms: three decimals below 10 ms, one from 100 ms on, thousands grouped."""
    value = time_ns / NS_PER_MS
    decimals = 1 if value >= 100 else 2 if value >= 10 else 3
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(part: float) -> str:
    """Write a share of 1 as a percentage with one decimal."""
    return f"{100 * part:.1f} %"


def text(raw: str) -> str:
    """Escape text for XML; characters that XML 1.0 cannot hold become U+FFFD."""
    kept = "".join("\ufffd" if _illegal(char) else char for char in raw)
    return escape(kept, {'"': "&quot;"})


def _illegal(char: str) -> bool:
    """Whether XML 1.0 has no way to write the character."""
    if char in "\t\n\r":
        return False
    return unicodedata.category(char) in ("Cc", "Cs") or char in "\ufffe\uffff"


def shorten(raw: str, width_px: float, size_px: float) -> str:
    """Cut text that would be wider than `width_px` at the font size, with an ellipsis in the middle.

    Fonts differ from viewer to viewer, so 0.56 em is taken for every character: the average of the sans-serif faces.
    """
    room = max(int(width_px / (0.56 * size_px)), 3)
    if len(raw) <= room:
        return raw
    head = (room - 1) // 2
    return f"{raw[:head]}…{raw[len(raw) - (room - 1 - head) :]}"
