"""The break-evens of a plan: its best arrangement against the best of each other kind, on each axis that matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.expand import expand
from crosspipe.plans.break_even import AXES, ONE, Pair, deepen, find_flip
from crosspipe.plans.budget import SHORTEST_S
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
    """An axis looked at for the best arrangement and another; without a pair it was not, and `skipped` says why."""

    axis: Axis
    best: Solved
    other: Solved
    pair: Pair | None
    skipped: str | None

    @property
    def complete(self) -> bool:
        """Whether all was looked at that was to be."""
        return self.skipped != NO_TIME if self.pair is None else self.pair.found.complete

    @property
    def is_settled(self) -> bool:
        """Whether more time would tell nothing more."""
        return self.pair is None or self.pair.found.is_settled

    @property
    def at_one(self) -> dict[str, SweepPoint]:
        """What its solves came to know of the two arrangements at the spec's own amounts."""
        if self.pair is None:
            return {}
        lines = ((self.best, self.pair.best), (self.other, self.pair.other))
        return {row.candidate.name: line.at(ONE) for row, line in lines}

    def told(self) -> BreakEven:
        """Write it as data."""
        if self.pair is None:
            return _skipped(self.axis, self.other, self.skipped or NO_TIME)
        found, names = self.pair.found, (self.best.candidate.name, self.other.candidate.name)
        return BreakEven(
            axis=self.axis.name,
            other=names[1],
            direction=found.direction,
            still_best=found.last_best(proved=False),
            flips=found.first_other(proved=False),
            proved_still_best=found.last_best(proved=True),
            proved_flips=found.first_other(proved=True),
            skipped=None,
            probes=list(found.probes),
            sentence=flip_sentence(self.axis, *names, found, _own(self.axis, self.best, self.other)),
        )


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
        return Looked(axis, best, other, None, why)
    if asking.on_solve is not None:
        asking.on_solve(f"{AMOUNTS[axis.name]} at which {other.candidate.name} is faster")
    lines = [Line(row, axis.name, constant=_is_constant(row, axis), asking=asking) for row in (best, other)]
    pair = Pair(lines[0], lines[1], axis, min(LONGEST_S, budget.share_s(pairs_left * STEPS)), budget)
    find_flip(pair)
    return Looked(axis, best, other, pair, None)


def deepen_all(looked: Sequence[Looked], budget: Budget) -> None:
    """Spend what time is left next to the flips of which not all is proved."""
    open_ones = [one for one in looked if not one.is_settled]
    for number, one in enumerate(open_ones):
        seconds = budget.share_s(len(open_ones) - number)
        if one.pair is not None and seconds / 4 >= SHORTEST_S:
            deepen(one.pair, seconds)


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


__all__ = ["AXES", "Looked", "deepen_all", "look", "rivals"]
