"""Bounds by cases: every schedule takes some choice for a group of stages, and each choice has its own bound.

The least of the cases' bounds holds for all of them. One group of all stages with a recompute option where that is few
cases; else one group per device, whose stages share its memory, the others relaxed (`relax.py`).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.problem import Problem

MOST_CASES = 16
"""Cases of one group; a group with more is left to the relaxation."""

MOST_OPERATIONS = 10**5
"""Operations of all cases together that are worth the time."""

Case = dict[int, bool]
"""Whether each stage of a group recomputes."""


def groups_of_cases(problem: Problem) -> Iterator[tuple[Case, ...]]:
    """List groups of cases; one case of each group holds in every schedule. None where nothing is open."""
    if problem.recomputed or not problem.choices:
        return
    stages = sorted(choice.stage for choice in problem.choices)
    groups = [stages]
    if 2 ** len(stages) > MOST_CASES:
        first_replica = problem.devices[: problem.devices_per_replica]
        groups = [[stage for stage in stages if stage in device.stages] for device in first_replica]
    groups = [group for group in groups if group and 2 ** len(group) <= MOST_CASES]
    if sum(2 ** len(group) for group in groups) * len(problem.operations) > MOST_OPERATIONS:
        return
    for group in groups:
        yield tuple(dict(zip(group, taken, strict=True)) for taken in product((False, True), repeat=len(group)))
