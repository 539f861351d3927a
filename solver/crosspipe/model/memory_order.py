"""Precedences that memory implies once each class runs in index order: redundant with the cumulative, far stronger.

Take a pool with room C on a device with stages u_1 < ... < u_v. Let a_i(j) be what F of stage u_i takes for microbatch
j and holds at least to the end of its backward (B or BW), w_i(j) the part of it held to the end of W, and e_i(j) what B
takes in addition. A microbatch between the start of F and the end of B of u_i holds `A_i(j) = a_1(j) + ... + a_i(j)`:
F goes up through the stages and B comes down.

1. In flight: `start F_i(n) >= end B_i(j)` if `A_i(j) + ... + A_i(n) + e_i(j) > C`. Otherwise F_i(n) starts before
   B_i(j) does (one device), and in index order none of B_i(j..n) has ended when B_i(j) starts and takes e_i(j).
2. Weights: `start F_i(n) >= end W_i(j)` if `w_i(j) + ... + w_i(n-1) + A_i(n) > C`. Otherwise none of W_i(j..n-1) has
   ended when F_i(n) starts.
3. Weights before a backward, with v_i = w_i + e_i: `start B_i(n) >= end W_i(j)` if `v_i(j) + ... + v_i(n-1) + A_i(n) +
   e_i(n) > C`. Otherwise none of W_i(j..n-1) has ended when B_i(n) starts, but all of B_i(j..n-1) have.
4. Dead end: `start F_i(n) >= end B_{i+1}(j)` if `A_i(j) + ... + A_i(n) + a_{i+1}(j) > C`. Suppose B_i(j) has not ended
   when F_i(n) starts (else the claim holds, as B_{i+1}(j) came before). Then j..n all hold A_i, and none gives it back
   before B_i(j), which needs F_{i+1}(j). Had F_{i+1}(j) not started, it never could. So it has, and what it took cannot
   be held any more: B_{i+1}(j) has ended.

A backward of no length gives back at the moment at which it takes, so its e_i is not held beside what it gives back:
e_i counts as 0 in rule 1 then, and rule 3 is left out.

With equal amounts rule 1 reads `F(j + K) after B(j)`, `K = floor(C / A_i)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.arcs import Arcs
from crosspipe.model.chains import in_order
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.model.ticks import Ticks
    from crosspipe.problem.operations import IntArray


def memory_arcs(ticks: Ticks) -> Arcs:
    """Arcs that the rules above imply for every pool that can be exceeded; none where no index order may be assumed."""
    pairs: list[tuple[int, int]] = []
    if in_order(ticks.problem):
        for pool, room in enumerate(ticks.room):
            if room is not None:
                pairs += _pool_pairs(ticks, pool, room)
    before, after = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    return Arcs(before, after, ticks.duration[before])


def order_suffices(ticks: Ticks, pool: int) -> bool:
    """Tell whether the arcs say all there is to say about a pool, so that it needs no cumulative.

    They do if one stage alone uses it, and all that F takes is given back by one kind of operation: what is held when
    F(n) starts is then the sum from the first microbatch not given back to n, and rule 1 or 2 keeps it within the room.
    """
    if not in_order(ticks.problem):
        return False
    ops, holdings = ticks.problem.operations, ticks.problem.holdings
    rows = np.flatnonzero((holdings.pool == pool) & (ticks.amount > 0))
    taker, giver = holdings.taken_by[rows], holdings.given_by[rows]
    classes = set(zip(ops.kind[taker].tolist(), ops.stage[taker].tolist(), ops.kind[giver].tolist(), strict=True))
    own = bool(np.all((ops.stage[taker] == ops.stage[giver]) & (ops.microbatch[taker] == ops.microbatch[giver])))
    return own and len(classes) == 1 and all(took == Kind.F and gave != Kind.F for took, _, gave in classes)


def _pool_pairs(ticks: Ticks, pool: int, room: int) -> list[tuple[int, int]]:
    """Pairs (before, after) of operations of one pool: `start(after) >= end(before)`."""
    device = ticks.problem.devices[ticks.problem.pools[pool].device]
    numbers = ticks.problem.numbers[:, device.replica]
    taken, kept, extra = _held(ticks, pool)
    pairs: list[tuple[int, int]] = []
    below = np.zeros(ticks.problem.microbatches, dtype=np.int64)
    for place, stage in enumerate(device.stages):
        backward = np.maximum(numbers[Kind.B, stage], numbers[Kind.BW, stage])
        if backward[0] < 0:
            continue
        forward, held = numbers[Kind.F, stage], below + taken[stage]
        added = np.where(ticks.problem.operations.duration_ns[backward] > 0, extra[stage], 0)
        pairs += _wait(forward, backward, held, held, room, added)
        pairs += _wait(forward, numbers[Kind.W, stage], kept[stage], held, room)
        if added.any():
            pairs += _wait(backward, numbers[Kind.W, stage], kept[stage] + added, held + added, room)
        above = device.stages[place + 1] if place + 1 < len(device.stages) else None
        if above is not None and taken[above].any():
            next_backward = np.maximum(numbers[Kind.B, above], numbers[Kind.BW, above])
            pairs += _wait(forward, next_backward, held, held, room, taken[above])
        below = held
    return pairs


def _held(ticks: Ticks, pool: int) -> tuple[IntArray, IntArray, IntArray]:
    """Amounts [stage, microbatch]: of F to the end of the backward at least, of it to the end of W, and of B."""
    ops, holdings = ticks.problem.operations, ticks.problem.holdings
    shape = len(ticks.problem.stages), ticks.problem.microbatches
    rows = np.flatnonzero(holdings.pool == pool)
    taker, giver = holdings.taken_by[rows], holdings.given_by[rows]
    same = (ops.stage[taker] == ops.stage[giver]) & (ops.microbatch[taker] == ops.microbatch[giver])

    def total(takers: tuple[Kind, ...], givers: tuple[Kind, ...]) -> IntArray:
        counted = same & np.isin(ops.kind[taker], takers) & np.isin(ops.kind[giver], givers)
        sums = np.zeros(shape, dtype=np.int64)
        np.add.at(sums, (ops.stage[taker[counted]], ops.microbatch[taker[counted]]), ticks.amount[rows[counted]])
        return sums

    backward, weight = (Kind.B, Kind.BW), (Kind.W,)
    return total((Kind.F,), backward + weight), total((Kind.F,), weight), total(backward, backward + weight)


def _wait(
    taker: IntArray, other: IntArray, held: IntArray, own: IntArray, room: int, more: IntArray | None = None
) -> list[tuple[int, int]]:
    """Pair taker(n) with the last other(j) for which `held(j) + ... + held(n-1) + own(n) + more(j)` exceeds the room.

    Only where j moves on: the pairs of the microbatches between follow from the order of the takers.
    """
    if other[0] < 0:
        return []
    sums = np.concatenate([[0], np.cumsum(held)])
    pairs: list[tuple[int, int]] = []
    last = -1
    for n in range(len(taker)):
        total = sums[n] - sums[: n + 1] + own[n]
        over = np.flatnonzero(total + (0 if more is None else more[: n + 1]) > room)
        if len(over) and over[-1] > last:
            last = int(over[-1])
            pairs.append((int(other[last]), int(taker[n])))
    return pairs
