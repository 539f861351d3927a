"""A plan in at most 25 lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.summary import MOST_LINES, counted, percent
from crosspipe.sweeps.table import aligned

if TYPE_CHECKING:
    from crosspipe.plans.models import Arrangement, Plan

MOST_ROWS = 10
MOST_REASONS = 3


def plan_text(plan: Plan) -> list[str]:
    """Write a plan for a terminal: the arrangements, whether more sites are worth it, where that changes."""
    name = f" of {plan.name}" if plan.name else ""
    unfinished = "" if plan.complete else ", not all was looked at"
    lines = [
        f"plan{name}: {counted(len(plan.arrangements), 'arrangement')} of one step, {plan.seconds:.1f} s{unfinished}"
    ]
    shown = [row for row in plan.arrangements if row.value_ms is not None][:MOST_ROWS]
    if shown:
        lines += _table(shown)
    without = [row for row in plan.arrangements if row.value_ms is None]
    lines += [f"no `{row.name}`: {row.reason}" for row in without[:MOST_REASONS]]
    hidden = len(plan.arrangements) - len(shown) - min(len(without), MOST_REASONS)
    if hidden:
        lines.append(f"... and {counted(hidden, 'arrangement')} more in --format json")
    lines.append(plan.worth.sentence)
    if any(not row.gradients_counted for row in shown):
        lines.append("~ sums of gradients between sites are not counted (no `weights_mb`): never called the best")
    flips = sorted(plan.break_evens, key=lambda row: (row.skipped is not None, row.direction is None))
    room = MOST_LINES - len(lines)
    kept = flips if len(flips) <= room else flips[: room - 1]
    lines += [row.sentence for row in kept]
    return lines if len(kept) == len(flips) else [*lines, f"... and {len(flips) - len(kept)} more in --format json"]


def _table(rows: list[Arrangement]) -> list[str]:
    tokens = any(row.tokens_per_second is not None for row in rows)
    price = any(row.price_per_step is not None for row in rows)
    head = ["", "devices", "pipeline", "data", "step ms", "bound", "gap", "memory"]
    table = [[*head, *(["tokens/s"] if tokens else []), *(["price/step"] if price else [])]]
    for row in rows:
        bound = "" if row.lower_bound_ms is None else f"{row.lower_bound_ms:,.1f}"
        gap = "proved" if row.status == "optimal" else "" if row.gap is None else percent(row.gap)
        share = "" if row.peak_share is None else f"{row.peak_share:.0%}"
        value = f"{'' if row.gradients_counted else '~'}{row.value_ms:,.1f}"
        cells = [row.name, str(row.devices), str(row.pipeline), str(row.data), value, bound, gap, share]
        if tokens:
            cells.append("" if row.tokens_per_second is None else f"{row.tokens_per_second:,.0f}")
        if price:
            cells.append("" if row.price_per_step is None else f"{row.price_per_step:,.4f}")
        table.append(cells)
    return aligned(table)


__all__ = ["plan_text"]
