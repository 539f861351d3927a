"""How much a problem may amount to: its times and amounts are kept in 64 bits, and so must be all their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import Fault, TooLargeError
from crosspipe.problem.rounding import BYTES_PER_MB, LARGEST, NS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.links import Lane
    from crosspipe.problem.operations import Holdings, Operations, Precedences, RecomputeChoice
    from crosspipe.problem.problem import Pool

LATEST_NS = 2**61
"""Latest end that waiting for windows may lead to."""

MOST_HELD = 2**62
"""Most that all holdings of a pool may take together."""


def require_small_sums(
    operations: Operations,
    precedences: Precedences,
    choices: Sequence[RecomputeChoice],
    lanes: Sequence[Lane],
    first_lane: int,
) -> None:
    """Require that no schedule that waits for nothing needlessly can last longer than 64 bits tell.

    `first_lane` is the resource number of the first lane.

    Raises
    ------
    TooLargeError
        If one might.
    """
    durations: list[int] = operations.duration_ns.tolist()
    total = sum(durations) + sum(precedences.lag_ns.tolist())
    total += sum(sum(choice.durations_ns.tolist()) for choice in choices)
    if total > LARGEST:
        rule = f"all durations and latencies together must stay within {LARGEST // NS_PER_MS} ms"
        raise TooLargeError([Fault("/model", rule, f"{total // NS_PER_MS} ms")])
    # Every transfer waits for a period at most, goes on at the lowest rate, and the last single window passes once.
    on_lane = operations.resource >= first_lane
    number = operations.resource[on_lane] - first_lane
    carried = np.zeros(len(lanes), dtype=np.int64)
    np.add.at(carried, number, operations.duration_ns[on_lane])
    count = np.bincount(number, minlength=len(lanes))
    for lane, work, transfers in zip(lanes, carried.tolist(), count.tolist(), strict=True):
        total += work * (_slowness(lane) - 1) + transfers * _longest_period(lane)
    total += max((edge for lane in lanes for edge in _edges(lane)), default=0)
    if total > LATEST_NS:
        rule = f"with the windows of its links the step must surely end within {LATEST_NS // NS_PER_MS} ms"
        raise TooLargeError([Fault("/links", rule, f"{total // NS_PER_MS} ms at worst")])


def require_small_amounts(pools: Sequence[Pool], holdings: Holdings, choices: Sequence[RecomputeChoice]) -> None:
    """Require that what a pool holds can be told in 64 bits, whatever is held at once.

    Raises
    ------
    TooLargeError
        If it might not.
    """
    held = [pool.base for pool in pools]
    amounts: list[int] = holdings.amount.tolist()
    for choice in choices:
        for row, amount in zip(choice.holdings.tolist(), choice.amounts.tolist(), strict=True):
            amounts[row] = max(amounts[row], amount)
    for pool, amount in zip(holdings.pool.tolist(), amounts, strict=True):
        held[pool] += amount
    if max(held, default=0) > MOST_HELD:
        most, found = MOST_HELD // BYTES_PER_MB, max(held) // BYTES_PER_MB
        rule = f"static memory and all activations of a step on one device must stay within {most} MB together"
        raise TooLargeError([Fault("/model", rule, f"{found} MB")])


def _slowness(lane: Lane) -> int:
    """How many times longer a transfer may take than at the full rate, rounded up; single windows end by themselves."""
    lasting = [w.rate_bps for w in lane.windows if w.rate_bps and (w.end_ns is None or w.period_ns is not None)]
    return -(-lane.rate_bps // min(lasting, default=lane.rate_bps))


def _longest_period(lane: Lane) -> int:
    return max((window.period_ns or 0 for window in lane.windows), default=0)


def _edges(lane: Lane) -> list[int]:
    return [w.start_ns if w.end_ns is None else w.end_ns for w in lane.windows if w.period_ns is None]
