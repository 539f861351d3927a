"""Randomised greedy: settings drawn afresh or varied from the best, one pass after another."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING

from crosspipe.families.points import portfolio_for
from crosspipe.families.portfolio import Passes
from crosspipe.families.variants import Variant
from crosspipe.families.vary import draw, vary

if TYPE_CHECKING:
    from crosspipe.search.shared import Shared

FRESH = 0.4
"""Share of settings drawn afresh; the others vary one of the best few."""

LARGE = 20_000
"""Above this many operations the portfolio has hardly been tried when the search begins: it comes first."""

KEPT = 5
"""How many good settings are varied."""


def sample_greedy(shared: Shared, seed: int, most_s: float, most_passes: int | None = None) -> None:
    """Run passes until the search has ended or a limit is met; better schedules are offered as they come.

    With `most_passes` the passes are counted instead of timed, so that runs repeat exactly.
    """
    rng = Random(seed)  # noqa: S311  # a search, not a secret
    passes = Passes(shared.problem, shared.objective)
    variant = Variant(shared.problem.recomputed)
    good: list[tuple[int, int]] = []
    known = list(portfolio_for(shared.objective))
    untried = known[1:] if len(shared.problem.operations) > LARGE else []
    began, made = time.monotonic(), 0
    if not shared.ended():
        shared.begin("greedy")
    while not shared.ended():
        if most_passes is None and time.monotonic() - began >= most_s:
            break
        if most_passes is not None and made >= most_passes:
            break
        if untried:
            settings = untried.pop(0)
        else:
            settings = draw(rng) if not good or rng.random() < FRESH else vary(known[rng.choice(good)[1]], rng)
        attempt = passes.make(variant, settings)
        made += 1
        if attempt.value_ns is None or attempt.orders is None:
            continue
        known.append(settings)
        good = sorted([*good, (attempt.value_ns, len(known) - 1)])[:KEPT]
        if shared.value_ns is None or attempt.value_ns < shared.value_ns:
            shared.offer(attempt.orders, "greedy")
