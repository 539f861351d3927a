"""The greedy's passes over a problem: every variant once, then the portfolio on the best variants."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.errors import DoesNotFitError
from crosspipe.families.greedy import Greedy
from crosspipe.families.known import FamilyResult
from crosspipe.families.points import portfolio_for
from crosspipe.families.variants import Variant, neighbours, variants
from crosspipe.families.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.families.settings import Settings
    from crosspipe.families.verdict import Verdict
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders

GREEDY = "greedy"
"""The greedy's name among the families."""

KEPT_VARIANTS = 3
"""Variants that the whole portfolio is run on."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One pass of the greedy.

    Attributes
    ----------
    variant, settings
        What was run.
    orders, verdict
        None if no schedule came of it.
    reason
        Why it does not fit, None if it does.
    """

    variant: Variant
    settings: Settings
    orders: Orders | None
    verdict: Verdict | None
    reason: str | None

    @property
    def value_ns(self) -> int | None:
        """Value of the objective, None if the pass does not fit."""
        return None if self.verdict is None or self.reason is not None else self.verdict.value_ns


class Passes:
    """Passes over one problem, each variant laid out once."""

    def __init__(self, problem: Problem, objective: Objective) -> None:
        self._problem, self._objective = problem, objective
        self._floors: dict[Variant, Greedy | DoesNotFitError] = {}

    def make(self, variant: Variant, settings: Settings) -> Attempt:
        """Make one pass."""
        floor = self._floor(variant)
        try:
            if isinstance(floor, DoesNotFitError):
                raise floor
            orders = floor.orders(settings)
        except DoesNotFitError as error:
            return Attempt(variant, settings, None, None, str(error))
        verdict = judge(self._problem, orders, self._objective)
        return Attempt(variant, settings, orders, verdict, verdict.reason)

    def _floor(self, variant: Variant) -> Greedy | DoesNotFitError:
        if variant not in self._floors:
            try:
                self._floors[variant] = Greedy(self._problem, variant.recomputed, variant.order)
            except DoesNotFitError as error:
                self._floors[variant] = error
        return self._floors[variant]


def attempts(
    problem: Problem, objective: Objective, portfolio: tuple[Settings, ...] | None = None
) -> Iterator[Attempt]:
    """Make passes lazily: all variants, a climb over recomputed stages, then the portfolio on the best variants.

    The portfolio is that of the objective unless another is given.
    """
    portfolio = portfolio_for(objective) if portfolio is None else portfolio
    passes, values = Passes(problem, objective), dict[Variant, float]()

    def first_pass(variant: Variant) -> Attempt:
        attempt = passes.make(variant, portfolio[0])
        values[variant] = float("inf") if attempt.value_ns is None else attempt.value_ns
        return attempt

    for variant in variants(problem):
        yield first_pass(variant)
    best = None
    while best != (best := min(values, key=values.__getitem__)):
        for variant in neighbours(problem, best):
            if variant not in values:
                yield first_pass(variant)
    kept = sorted(values, key=values.__getitem__)[:KEPT_VARIANTS]
    for settings in portfolio[1:]:
        for variant in kept:
            yield passes.make(variant, settings)


def best_greedy(
    problem: Problem,
    objective: Objective,
    budget_s: float | None = None,
    target_ns: int | None = None,
    patience_s: float | None = None,
    fewest: int = 1,
) -> FamilyResult:
    """Find the best pass of the portfolio.

    Parameters
    ----------
    problem
        The problem.
    objective
        What is made small.
    budget_s
        Start no pass after this many seconds if one has fitted, None for the whole portfolio.
    target_ns
        A value known to be least: stop once it is reached.
    patience_s
        Start no pass after this many seconds even if none has fitted, None for as many as there are.
    fewest
        Passes that are made whatever the time.
    """
    began = time.monotonic()
    best: Attempt | None = None
    least = reason = None
    for made, attempt in enumerate(attempts(problem, objective), start=1):
        value = attempt.value_ns
        if value is None:
            reason = reason or attempt.reason
        elif least is None or value < least:
            best, least = attempt, value
        if least is not None and target_ns is not None and least <= target_ns:
            break
        limit_s = patience_s if least is None else budget_s
        if limit_s is not None and made >= fewest and time.monotonic() - began >= limit_s:
            break
    if best is None or best.orders is None or best.verdict is None:
        return FamilyResult.refused(GREEDY, reason or "no pass was made")
    return FamilyResult.of(GREEDY, best.orders, best.verdict)
