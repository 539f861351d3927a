"""Where one arrangement becomes faster than another: bisection over a factor, honest about gaps.

At each factor both arrangements have a value and a bound. One is proved faster where its value is within the other's
bound; without gaps that is everywhere, with them there is an interval of which nothing is proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from crosspipe.errors import CrossPipeError
from crosspipe.plans.models import Probe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.plans.budget import Budget
    from crosspipe.plans.line import Line
    from crosspipe.sweeps.models import SweepPoint

ONE = Decimal(1)
CLOSE = Decimal("1.05")
"""Bisection ends once the two ends are within this factor."""

MOST_STEPS = 7
"""Bisections at most, each way."""

Direction = Literal["less", "more"]


@dataclass(frozen=True, slots=True)
class Axis:
    """What is multiplied, how far, and which way is never worse: 1 more, -1 less."""

    name: Literal["bandwidth", "latency", "memory"]
    least: Decimal
    most: Decimal
    better: int

    def end(self, direction: Direction) -> Decimal:
        """Give the last factor looked at that way."""
        return self.least if direction == "less" else self.most


AXES = (
    Axis("bandwidth", Decimal("0.02"), Decimal(50), 1),
    Axis("latency", Decimal(0), Decimal(50), -1),
    Axis("memory", Decimal("0.25"), Decimal(4), 1),
)
"""What is looked at, in this order."""


@dataclass(frozen=True, slots=True)
class Found:
    """What bisection has found: the direction of the flip, None without one, and all that was solved."""

    direction: Direction | None
    probes: tuple[Probe, ...]
    complete: bool

    def last_best(self, *, proved: bool) -> float | None:
        """Find the factor next to the flip at which the best is still the best."""
        kept = [probe for probe in self._outward() if probe.faster == "best"][: self._before()]
        return next((probe.factor for probe in reversed(kept) if probe.proved or not proved), None)

    @property
    def is_settled(self) -> bool:
        """Whether more time could not bring the flip closer: there is none, or both ends are proved."""
        ends = (self.last_best(proved=True), self.first_other(proved=True))
        return self.direction is None or ends == (self.last_best(proved=False), self.first_other(proved=False))

    def first_other(self, *, proved: bool) -> float | None:
        """Find the factor next to the flip at which the other is the faster one."""
        flipped = [probe for probe in self._outward() if probe.faster == "other"]
        return next((probe.factor for probe in flipped if probe.proved or not proved), None)

    def _outward(self) -> list[Probe]:
        """List the probes from factor 1 on, in the direction of the flip; none without one."""
        if self.direction is None:
            return []
        less = self.direction == "less"
        known = [probe for probe in self.probes if (probe.factor <= 1 if less else probe.factor >= 1)]
        return sorted(known, key=lambda probe: -probe.factor if less else probe.factor)

    def _before(self) -> int:
        """Count the probes before the first at which the other is the faster one."""
        return next((at for at, probe in enumerate(self._outward()) if probe.faster == "other"), len(self.probes))


def find_flip(pair: Pair) -> None:
    """Look where the other becomes faster than the best, which is the faster one at factor 1."""
    for direction in _directions(pair.best, pair.other, pair.axis):
        if pair.flips_at(pair.axis.end(direction)):
            pair.direction = direction
            pair.bisect(pair.axis.end(direction))
            return


def deepen(pair: Pair, time_limit_s: float) -> None:
    """Search for longer next to a flip where not all is proved, at the factors between which it lies."""
    found = pair.found
    for factor in (found.last_best(proved=False), found.first_other(proved=False)):
        if factor is not None:
            pair.search(Decimal(repr(factor)), time_limit_s / 4)


def _directions(best: Line, other: Line, axis: Axis) -> Sequence[Direction]:
    """Leave out the direction in which nothing can flip: the one that only helps the best, or only harms the other."""
    worse: Direction = "less" if axis.better > 0 else "more"
    better: Direction = "more" if axis.better > 0 else "less"
    if best.constant and other.constant:
        return ()
    if other.constant:
        return (worse,)
    return (better,) if best.constant else (worse, better)


class Pair:
    """Two arrangements at the factors solved so far."""

    def __init__(self, best: Line, other: Line, axis: Axis, step_s: float, budget: Budget) -> None:
        self.best, self.other, self.axis = best, other, axis
        self._step_s, self._budget = step_s, budget
        self._factors = {ONE}
        self.direction: Direction | None = None
        self._complete = True

    @property
    def found(self) -> Found:
        """What is known by now at every factor: later points lend to earlier ones."""
        probes = tuple(self._probe(factor) for factor in sorted(self._factors))
        return Found(self.direction, probes, self._complete)

    def _probe(self, factor: Decimal) -> Probe:
        return probe_of(factor, self.best.at(factor), self.other.at(factor))

    def flips_at(self, factor: Decimal) -> bool:
        """Solve both at a factor, and tell whether the other is the faster one there as far as is known."""
        if not self._solve(factor):
            return False
        return self._probe(factor).faster == "other"

    def bisect(self, flipped: Decimal) -> None:
        """Close in on the flip between factor 1 and one at which the other is faster."""
        kept = ONE
        for _ in range(MOST_STEPS):
            middle = _between(kept, flipped)
            if middle in (kept, flipped) or not self._solve(middle):
                return
            if self._probe(middle).faster == "other":
                flipped = middle
            else:
                kept = middle

    def search(self, factor: Decimal, time_limit_s: float) -> None:
        """Solve both again at a factor, for longer, unless that cannot tell more."""
        for line in (self.best, self.other):
            if self._budget.is_over() or line.at(factor).status in ("optimal", "infeasible"):
                continue
            line.solve(factor, min(time_limit_s, self._budget.left_s), self._budget.asked_to_stop, again=True)

    def _solve(self, factor: Decimal) -> bool:
        if self._budget.is_over():
            self._complete = False
            return False
        try:
            for line in (self.best, self.other):
                line.solve(factor, self._step_s, self._budget.asked_to_stop)
                line.at(factor)
        except KeyError:  # it was stopped on the way
            self._complete = False
            return False
        except CrossPipeError:  # no legal spec at that factor, such as static memory alone beyond what there is
            return False
        self._factors.add(factor)
        return True


def _between(kept: Decimal, flipped: Decimal) -> Decimal:
    """Halve on a scale of factors, to three digits; one end itself where they are close."""
    low, high = min(kept, flipped), max(kept, flipped)
    if low and high / low <= CLOSE:
        return kept
    if not low and high <= Decimal("0.05"):
        return kept
    middle = (low * high).sqrt() if low else high / 3
    return Decimal(f"{middle:.3g}")


def probe_of(factor: Decimal, best: SweepPoint, other: SweepPoint) -> Probe:
    """Hold two arrangements against each other at a factor; equal times count for the best."""
    faster: Literal["best", "other"] | None
    if best.value_ms is None or other.value_ms is None:
        one_alone: Literal["best", "other"] = "best" if other.value_ms is None else "other"
        faster = None if best.value_ms is other.value_ms else one_alone
        proved = (other if faster == "best" else best).status == "infeasible" and faster is not None
    elif other.value_ms < best.value_ms:
        faster, proved = "other", best.lower_bound_ms is not None and other.value_ms < best.lower_bound_ms
    else:
        faster, proved = "best", other.lower_bound_ms is not None and best.value_ms <= other.lower_bound_ms
    return Probe(
        factor=float(factor),
        best_ms=best.value_ms,
        best_bound_ms=best.lower_bound_ms,
        other_ms=other.value_ms,
        other_bound_ms=other.lower_bound_ms,
        faster=faster,
        proved=proved,
    )


__all__ = ["AXES", "Axis", "Found", "Pair", "deepen", "find_flip", "probe_of"]
