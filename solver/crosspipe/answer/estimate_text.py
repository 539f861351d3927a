"""An estimate as tables for people."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.answer.estimate import Costs, Estimate

COMMENT_WIDTH = 110
"""Longest line of an assumption."""

NUMBERS = ("F ms", "B ms", "W ms", "again ms", "activation MB", "extra MB", "static MB", "message MB", "parameters")
"""Columns of costs; `again` and `extra` are what recomputation adds to the backward."""


def estimate_text(found: Estimate) -> Iterator[str]:
    """Write the items, the stages and every assumption with how to have it otherwise."""
    if found.items:
        yield "per item, one microbatch on one device"
        rows = [(f"{item.count} x {item.kind}", item.layers or "", *_numbers(item)) for item in found.items]
        yield from _table(("item", "layers", *NUMBERS), rows)
        yield ""
    yield "per stage, one microbatch on its device"
    stages = [
        (str(one.number), one.device or "", one.layers or "", *_numbers(one, one.time_factor)) for one in found.stages
    ]
    yield from _table(("stage", "device", "layers", *NUMBERS), stages)
    yield ""
    yield "assumed"
    for one in found.assumptions:
        text = f"{one.pointer}: {one.value}: {one.why}. To change: {one.override}"
        yield from textwrap.wrap(
            text,
            COMMENT_WIDTH,
            initial_indent="- ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _numbers(one: Costs, factor: float = 1.0) -> tuple[str, ...]:
    combined = one.backward_ms is not None
    return (
        _ms(one.forward_ms, factor),
        _ms(one.backward_ms if combined else one.backward_input_ms, factor) + (" (BW)" if combined else ""),
        _ms(one.backward_weight_ms, factor),
        _ms(one.recompute_ms, factor),
        f"{one.activation_mb:.1f}",
        f"{one.backward_extra_mb:.1f}",
        f"{one.static_mb:.1f}",
        f"{one.boundary_mb:.1f}",
        "-" if one.parameters is None else f"{one.parameters / 1e6:.1f} M",
    )


def _ms(value: float | None, factor: float) -> str:
    return "-" if value is None else f"{value * factor:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write rows under their heads, words to the left and numbers to the right."""
    words = len(head) - len(NUMBERS)
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [
            cell.ljust(width) if place < words else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
