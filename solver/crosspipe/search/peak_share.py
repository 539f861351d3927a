"""Second term: the least share of memory on the fullest device, at no loss of the first objective's value.

"Is there a schedule of value at most V in which no device fills more than this share of its memory?" is our own problem
with less memory everywhere. It is refuted by an obstacle, by a lower bound above V, or by count states at V; it is
answered by the greedy and by dives at V. The share is bisected between what is refuted and the least that is reached;
where both meet it is proved.
"""

from __future__ import annotations

from itertools import chain, islice
from random import Random
from typing import TYPE_CHECKING

from crosspipe.bounds.best import lower_bound
from crosspipe.bounds.obstacles import obstacles
from crosspipe.errors import DeadlockError, NeverOpensError
from crosspipe.families.points import PORTFOLIO
from crosspipe.families.portfolio import Passes, attempts
from crosspipe.families.variants import Variant
from crosspipe.families.vary import draw, vary
from crosspipe.schedule.in_flight import in_flight_ns
from crosspipe.schedule.measure import fits, value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.timed import timed
from crosspipe.search.count_states import CountStates
from crosspipe.search.memory_share import Fullest, below, cut, fullest, least_share, next_levels, share_beyond, up_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from fractions import Fraction

    from crosspipe.families.portfolio import Attempt
    from crosspipe.families.settings import Settings
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule
    from crosspipe.search.allowance import Allowance
    from crosspipe.search.memory_share import Limits

    Try = tuple[Orders, str, Settings | None]
    """Orders, who made them, and with what settings."""

BOUND_S = 1e-5
"""Usual time of obstacles and bounds, per operation."""

PASS_S = 5e-6
"""Usual time of a pass of the greedy, per operation."""

CLOSED_STEPS = 6
"""Bisections by bounds alone: to a sixtieth of what lies between."""

FIRST_PASSES = 8
"""Schedules of the greedy that are looked at for each question before dives."""

RANDOM_PASSES = 24
"""Passes with random settings for each question, after those of the portfolio."""

NARROW = 0.002
"""Shares of memory that lie closer together than this are not told apart by bounds alone."""

CLOSE = 1e-4
"""Shares that lie closer together than this are not told apart by further questions, only by the last proof."""

MOST_FAILURES = 3
"""Questions without an answer after which a method gives up, at most."""


class PeakShare:
    """The search for the least share; `schedule` is the best so far at all times.

    Attributes
    ----------
    schedule, source, value_ns
        The best schedule, who made it, its value: at most that at the start.
    full
        Its fullest device.
    lower
        No schedule of that value has a smaller share.
    """

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        known: tuple[Schedule, str],
        allowance: Allowance,
        seed: int,
        *,
        kernels: bool = True,
    ) -> None:
        self._problem, self._objective, self._allowance = problem, objective, allowance
        self.schedule, self.source = known
        whole = resolved(problem, self.schedule.orders)
        self.value_ns = value_ns(whole, self.schedule, objective)
        full = fullest(whole, self.schedule)
        if full is None:
            raise ValueError("no memory is limited")
        self.full: Fullest = full
        self.lower: Fraction = least_share(problem)
        self._flight_ns = in_flight_ns(whole, self.schedule)
        self._rng = Random(seed)  # noqa: S311  # a search, not a secret
        self._winners: list[Settings] = []
        self._states = CountStates(whole, objective, allowance, kernels=kernels)

    @property
    def proved(self) -> bool:
        """Whether no schedule of this value has a smaller share."""
        return self.full.share <= self.lower

    def run(self, known: Iterable[tuple[Orders, str]]) -> None:
        """Search until the least share is proved, or the allowance is over; `known` orders are looked at first."""
        for orders, source in known:
            self._take(orders, source)
        self._bound()
        # A few passes of the greedy are quick where they help at all; dives reach what is refuted closely below, too.
        if self._states.worthwhile:
            self._narrow(lambda limits: islice(self._passes(limits), FIRST_PASSES), 1, ambitious=False)
            self._narrow(self._dives, MOST_FAILURES, ambitious=True)
        self._narrow(self._passes, MOST_FAILURES, ambitious=False)
        if not self.proved and not self._allowance.over():
            self._refutes(below(self._problem, self.full.share), patient=True)

    def _narrow(self, tries: Callable[[Limits], Iterator[Try]], most_failures: int, *, ambitious: bool) -> None:
        """Bisect the share by questions; the ambitious ask first for what is not refuted at all."""
        floor, asked, failures = self.lower, set[tuple[int, ...]](), 0
        while failures < most_failures and not self.proved and not self._allowance.over():
            share = floor if ambitious and not asked else (floor + self.full.share) / 2
            limits = up_to(self._problem, share)
            levels = next_levels(self._problem, limits)
            if levels in asked:
                if self.full.share - share < CLOSE:
                    return
                floor = share
                continue
            asked.add(levels)
            if self._refutes(limits):
                floor = max(floor, self.lower)
            elif not self._reaches(limits, tries(limits)):
                floor, failures = share, failures + 1

    def _bound(self) -> None:
        """Raise the lower limit by bounds alone, which take little time; a proof that nothing is less comes first."""
        if self.proved or self._allowance.over() or self._exceeds(below(self._problem, self.full.share)):
            return
        high = self.full.share
        for _ in range(CLOSED_STEPS):
            if high - self.lower < NARROW or self._allowance.over():
                return
            middle = (self.lower + high) / 2
            if not self._exceeds(up_to(self._problem, middle)):
                high = middle

    def _exceeds(self, limits: Limits) -> bool:
        """Whether obstacles or bounds alone refute limits."""
        less = cut(self._problem, limits)
        self._allowance.spend(BOUND_S * len(less.operations))
        return self._note(limits, bool(obstacles(less)) or lower_bound(less, self._objective).value_ns > self.value_ns)

    def _refutes(self, limits: Limits, *, patient: bool = False) -> bool:
        """Whether bounds or count states refute limits; `patient` splits cases, too."""
        if self._exceeds(limits):
            return True
        less = cut(self._states.problem, limits)
        refuted = self._states.refutes(less, self.value_ns, patient=patient)
        return self._note(limits, refuted and not self._problem.choices)

    def _note(self, limits: Limits, refuted: bool) -> bool:
        if refuted:
            self.lower = max(self.lower, min(share_beyond(self._problem, limits), self.full.share))
        return refuted

    def _reaches(self, limits: Limits, tries: Iterator[Try]) -> bool:
        """Whether a schedule within the limits is found; the best schedule is then one."""
        for orders, source, settings in tries:
            if self._take(orders, source, limits):
                if settings is not None:
                    self._winners.append(settings)
                return True
        return False

    def _passes(self, limits: Limits) -> Iterator[Try]:
        """Make passes of the greedy within limits: the portfolio, and random settings where there is nothing better."""
        less = cut(self._problem, limits)
        passes, variant = Passes(less, self._objective), Variant(self.schedule.orders.recomputed)
        made: Iterator[Attempt] = iter(attempts(less, self._objective))
        if self._winners:
            made = chain([passes.make(variant, settings) for settings in self._winners[-1:]], made)
        if not self._states.worthwhile:
            made = chain(made, (passes.make(variant, self._settings(n)) for n in range(RANDOM_PASSES)))
        for attempt in made:
            self._allowance.spend(PASS_S * len(less.operations))
            if attempt.orders is not None and attempt.value_ns is not None:
                yield attempt.orders, "greedy", attempt.settings
            if self._allowance.over():
                return

    def _settings(self, number: int) -> Settings:
        """Draw settings of a pass: every third afresh, else near a point that is known to be good."""
        near = self._winners[-1] if self._winners else PORTFOLIO[number % len(PORTFOLIO)]
        return draw(self._rng) if number % 3 == 0 else vary(near, self._rng)

    def _dives(self, limits: Limits) -> Iterator[Try]:
        for orders in self._states.dives(cut(self._states.problem, limits), self.value_ns):
            yield orders, "dive", None

    def _take(self, orders: Orders, source: str, limits: Limits | None = None) -> bool:
        """Keep orders of no larger value if they fill less, or as much for a shorter time; says if within limits."""
        try:
            schedule = timed(self._problem, orders, self._objective)
        except (DeadlockError, NeverOpensError):
            return False  # orders made without regard to windows may never run
        whole = resolved(self._problem, orders)
        value = value_ns(whole, schedule, self._objective)
        if value > self.value_ns or not fits(whole, schedule):
            return False
        full = fullest(whole, schedule)
        flight_ns = in_flight_ns(whole, schedule)
        if full is None:
            return False
        if (value, full.share, flight_ns) < (self.value_ns, self.full.share, self._flight_ns):
            self.schedule, self.source, self.value_ns = schedule, source, value
            self.full, self._flight_ns = full, flight_ns
        return limits is not None and fits(cut(whole, limits), schedule)
