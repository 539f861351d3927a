"""Fixed portfolios of settings: points that win somewhere, the strongest first.

Chosen one by one, each to lower most what the best of all so far loses against the best value known, on some 280
problems: uniform and unlike stages, one to four sites, all placements, memory from 0.6 times that of 1F1B upward. The
first two never wait: best on large problems, where there is time for few passes. For the span others come first: found
on the Zero Bubble paper's profiles with twice the memory of 1F1B (arXiv 2401.10241, Table 4), where they keep to or
below the rates of its ZB-2p.
"""

from __future__ import annotations

from crosspipe.families.settings import Keep, Prefer, Rule, Settings
from crosspipe.problem.problem import Objective

PORTFOLIO: tuple[Settings, ...] = (
    Settings(Rule.ALTERNATE, patience=0.0, gap=0.0, prefer=Prefer.OLDEST),
    Settings(Rule.BACKWARD, patience=0.0, gap=0.0),
    Settings(Rule.LATEST_START, patience=0.1, gap=0.71, keep=Keep.STARTER, pace=0.24, slope=0.92),
    Settings(Rule.LATEST_START, patience=0.95, gap=0.39, pace=0.43, slope=0.5),
    Settings(Rule.LATEST_START, patience=0.25, gap=0.6, keep=Keep.STARTER, pace=0.5, slope=0.25),
    Settings(Rule.ALTERNATE, patience=0.0, gap=1.0, prefer=Prefer.OLDEST, pace=0.95),
    Settings(Rule.ALTERNATE, patience=0.25, gap=0.83),
    Settings(Rule.LATEST_START, patience=0.0, gap=0.49, owed=4, owed_by_rank=1.0, pace=0.5, slope=0.78),
    Settings(Rule.ALTERNATE, patience=0.75, gap=0.6, keep=Keep.STARTER, prefer=Prefer.OLDEST),
    Settings(Rule.BACKWARD, patience=0.98, gap=0.79, owed=8, pace=0.5),
    Settings(Rule.LATEST_START, patience=1.86, gap=0.3, owed=8, owed_by_rank=2.0, pace=0.2, slope=0.25),
    Settings(Rule.LATEST_START, patience=1.5, gap=0.37, owed=4, keep=Keep.STARTER, pace=1.13, depth=1.3, slope=1.92),
    Settings(Rule.FORWARD, patience=0.44, gap=0.87, keep=Keep.STARTER, prefer=Prefer.NEAREST, pace=0.45, depth=2.0),
    Settings(Rule.LATEST_START, patience=0.5, gap=0.6, owed=8, owed_by_rank=0.5, depth=2.0, slope=0.5),
    Settings(Rule.LATEST_START, patience=0.33, gap=0.25, keep=Keep.STARTER, pace=0.07, slope=0.25),
    Settings(Rule.BACKWARD, patience=0.4, gap=1.0, owed=8, owed_by_rank=1.0, pace=0.67),
    Settings(Rule.LATEST_START, patience=0.5, gap=0.3, owed=6, depth=1.3, slope=0.5),
    Settings(
        Rule.FORWARD,
        patience=1.0,
        gap=1.26,
        owed=1,
        owed_by_rank=0.5,
        keep=Keep.STARTER,
        prefer=Prefer.NEAREST,
        pace=0.95,
        depth=1.6,
    ),
    Settings(Rule.ALTERNATE, patience=0.0, gap=0.69, owed=4, pace=0.71),
    Settings(Rule.LATEST_START, patience=1.72, gap=0.3, owed=4, keep=Keep.STARTER, pace=0.1, depth=2.0, slope=0.19),
    Settings(Rule.LATEST_START, patience=0.5, gap=0.6, keep=Keep.STARTER, depth=2.0, slope=0.5),
    Settings(
        Rule.ALTERNATE, patience=0.33, gap=0.45, owed=4, owed_by_rank=2.0, keep=Keep.STARTER, prefer=Prefer.OLDEST
    ),
    Settings(Rule.ALTERNATE, patience=0.0, gap=0.6, owed=4, prefer=Prefer.OLDEST, pace=0.5),
    Settings(Rule.LATEST_START, patience=0.43, gap=0.14, owed=2, owed_by_rank=0.5, depth=1.6, slope=0.31),
)

FIRST_FOR_SPAN: tuple[Settings, ...] = (
    Settings(Rule.ALTERNATE, patience=1.24, gap=0.0, keep=Keep.ALL, pace=0.1),
    Settings(Rule.ALTERNATE, patience=0.67, gap=0.34, keep=Keep.ALL, prefer=Prefer.NEAREST, level=True),
    Settings(Rule.ALTERNATE, patience=0.61, gap=0.0, prefer=Prefer.OLDEST),
    Settings(Rule.BACKWARD, patience=0.0, gap=0.6, keep=Keep.ALL, pace=0.22, depth=2.0),
    Settings(Rule.BACKWARD, patience=0.42, gap=0.1, keep=Keep.STARTER, pace=0.1),
)


def portfolio_for(objective: Objective) -> tuple[Settings, ...]:
    """Give the settings to try for an objective, the most promising first."""
    return FIRST_FOR_SPAN + PORTFOLIO if objective is Objective.SPAN else PORTFOLIO
