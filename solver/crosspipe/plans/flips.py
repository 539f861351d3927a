"""The break-evens of a plan: its best arrangement against the best of each other kind, on each axis that matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.expand import expand
from crosspipe.plans.break_even import AXES, ONE, find_flip
from crosspipe.plans.compare import NO_TIME
from crosspipe.plans.line import Line
from crosspipe.plans.models import SITE, BreakEven
from crosspipe.plans.words import AMOUNTS, Amount, flip_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.plans.break_even import Axis
    from crosspipe.plans.budget import Budget
    from crosspipe.plans.compare import Asking, Solved
    from crosspipe.sweeps.models import SweepPoint

STEPS = 12
"""Solves that a break-even takes as a rule; the time is shared out for as many."""

LONGEST_S = 3.0
"""Longest search at one factor."""


@dataclass(frozen=True, slots=True)
class Looked:
    """A break-even, and what its solves came to know of the two arrangements at the spec's own amounts."""

    found: BreakEven
    at_one: tuple[tuple[str, SweepPoint], ...]
    complete: bool


def rivals(best: Solved, rows: Sequence[Solved]) -> list[Solved]:
    """List the fastest arrangement of each other kind, one site first, and the runner-up if it is of the same.

    Those whose gradients are not counted are left out.
    """
    found: dict[str, Solved] = {}
    known = sorted(
        (row for row in rows if row is not best and row.counted and row.value_ms is not None),
        key=lambda row: row.value_ms or 0.0,
    )
    for row in known:
        if row.candidate.kind != best.candidate.kind or row is known[0]:
            found.setdefault(row.candidate.kind, row)
    return sorted(found.values(), key=lambda row: row.candidate.kind != SITE)


def look(best: Solved, other: Solved, axis: Axis, pairs_left: int, asking: Asking, budget: Budget) -> Looked:
    """Find the break-even of two arrangements on an axis, or why it is not looked for."""
    why = _cannot_matter(best, other, axis) or (NO_TIME if budget.is_over() else None)
    if why is not None:
        return Looked(_skipped(axis, other, why), (), why != NO_TIME)
    if asking.on_solve is not None:
        asking.on_solve(f"{AMOUNTS[axis.name]} at which {other.candidate.name} is faster")
    lines = [Line(row, axis.name, constant=_is_constant(row, axis), asking=asking) for row in (best, other)]
    step_s = min(LONGEST_S, budget.share_s(pairs_left * STEPS))
    found = find_flip(lines[0], lines[1], axis, step_s, budget)
    row = BreakEven(
        axis=axis.name,
        other=other.candidate.name,
        direction=found.direction,
        still_best=found.last_best(proved=False),
        flips=found.first_other(proved=False),
        proved_still_best=found.last_best(proved=True),
        proved_flips=found.first_other(proved=True),
        skipped=None,
        probes=list(found.probes),
        sentence=flip_sentence(axis, best.candidate.name, other.candidate.name, found, _own(axis, best, other)),
    )
    at_one = tuple((row.candidate.name, line.at(ONE)) for row, line in zip((best, other), lines, strict=True))
    return Looked(row, at_one, found.complete)


def _is_constant(row: Solved, axis: Axis) -> bool:
    return axis.name != "memory" and row.candidate.kind == SITE


def _cannot_matter(best: Solved, other: Solved, axis: Axis) -> str | None:
    """Say why an axis cannot change the ranking, None where it may."""
    specs = [row.variant.spec for row in (best, other) if row.variant is not None]
    if axis.name == "memory":
        pools = [pool for spec in specs for site in expand(spec).spec.sites.values() for pool in site.pools or [site]]
        return (
            None if all(pool.memory_gb is not None for pool in pools) else "no memory is given that could be multiplied"
        )
    if all(_is_constant(row, axis) for row in (best, other)):
        return "neither sends anything between sites"
    links = [link for spec in specs for link in spec.links]
    if axis.name == "latency" and not any(link.one_way_latency_ms or link.rtt_ms for link in links):
        return "the links have no latency that could be multiplied"
    rates = (link.bandwidth_gbps or link.transfer_ms or link.transfer_table for link in links)
    if axis.name == "bandwidth" and not any(rates):
        return "the links have no bandwidth that could be multiplied"
    return None


def _own(axis: Axis, best: Solved, other: Solved) -> Amount | None:
    """Find what all links or devices have of what is multiplied; None where they differ."""
    specs = [row.variant.spec for row in (best, other) if row.variant is not None]
    links = [link for spec in specs for link in spec.links]
    sites = [site for spec in specs for site in expand(spec).spec.sites.values()]
    amounts = {
        "bandwidth": ({link.bandwidth_gbps for link in links}, "Gb/s"),
        "latency": ({link.one_way_latency_ms for link in links}, "ms"),
        "memory": ({pool.memory_gb for site in sites for pool in site.pools or [site]}, "GB"),
    }
    values, unit = amounts[axis.name]
    same = next(iter(values)) if len(values) == 1 else None
    return None if same is None else Amount(same, unit)


def _skipped(axis: Axis, other: Solved, why: str) -> BreakEven:
    return BreakEven(
        axis=axis.name,
        other=other.candidate.name,
        direction=None,
        still_best=None,
        flips=None,
        proved_still_best=None,
        proved_flips=None,
        skipped=why,
        probes=[],
        sentence=f"{AMOUNTS[axis.name]}: not looked at against `{other.candidate.name}`: {why}",
    )


__all__ = ["AXES", "Looked", "look", "rivals"]
