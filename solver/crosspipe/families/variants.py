"""Ways to lay one problem out: which stages recompute, and in which order unlike microbatches run."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.problem import Problem

MOST_FREE = 3
"""With up to this many stages to choose from, every set of recomputed stages is tried."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way: the stages that recompute, and the order of microbatches (None = as given)."""

    recomputed: frozenset[int] = frozenset()
    order: tuple[int, ...] | None = None


def variants(problem: Problem) -> Iterator[Variant]:
    """List the ways worth a first pass, the plainest first."""
    for order in microbatch_orders(problem):
        for recomputed in recompute_sets(problem):
            yield Variant(recomputed, order)


def recompute_sets(problem: Problem) -> Iterator[frozenset[int]]:
    """List sets of recomputed stages: every one if there are few, else none, those of each device, and all."""
    stages = [] if problem.recomputed else sorted(choice.stage for choice in problem.choices)
    if len(stages) <= MOST_FREE:
        for size in range(len(stages) + 1):
            yield from (frozenset(chosen) for chosen in combinations(stages, size))
        return
    yield frozenset()
    for device in problem.devices[: problem.devices_per_replica]:
        if here := frozenset(device.stages) & frozenset(stages):
            yield here
    yield frozenset(stages)


def neighbours(problem: Problem, variant: Variant) -> Iterator[Variant]:
    """List the variants that differ in one recomputed stage, where not every set is tried anyway."""
    if problem.recomputed or len(problem.choices) <= MOST_FREE:
        return
    for choice in problem.choices:
        yield Variant(variant.recomputed ^ {choice.stage}, variant.order)


def microbatch_orders(problem: Problem) -> Iterator[tuple[int, ...] | None]:
    """List orders of microbatches: as given; if unlike and free, also short first, long first, short ones outside."""
    yield None
    if problem.identical or problem.chains_required:
        return
    sizes = [Decimal(multiplier) for multiplier in problem.multipliers]
    short_first = sorted(range(len(sizes)), key=sizes.__getitem__)
    yield tuple(short_first)
    yield tuple(reversed(short_first))
    yield (*short_first[::2], *reversed(short_first[1::2]))
