"""The compiled inner loops: windows of all operations for a target time, to a fixpoint.

For a target T operation j of class c has a window: it starts no earlier than r[c, j] and leaves at least q[c, j] after
its end. One pass over a machine's states computes, backwards, the latest time L at which each state may be reached
so that the rest still fits, and forwards the earliest time E; windows shrink to what some path uses (notes of the
`fixpoint` module give the proof). Arrays of all machines lie one after another: `first_state`, `first_class` say where
each begins, `classes` which global class a local one is. `links` are arcs and places of extra operations (`extras`),
`hours` the opening hours of lanes (`hours`).
"""

from __future__ import annotations

from crosspipe.lattice.cache import choose_cache_folder

choose_cache_folder()  # must be settled before the compiler is loaded

import numpy as np  # noqa: E402
from numba import njit  # noqa: E402

from crosspipe.lattice.nodes import TOGETHER  # noqa: E402

NEVER = -(2**60)
FAR = 2**60


@njit(cache=True, nogil=True)
def open_from(hours, lane, ready, duration):  # type: ignore[no-untyped-def]
    """Earliest start at `ready` or later on a lane, and its end; FAR if there is none."""
    starts, rates, first = hours[1], hours[2], hours[3]
    low, high = first[lane], first[lane + 1]
    if ready >= FAR:
        return FAR, FAR
    if duration == 0:
        return ready, ready
    last = high - 1
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= ready:
            low = middle
        else:
            high = middle
    begin, now = ready, ready
    work = duration * hours[4][lane]
    left = work
    for piece in range(low, last + 1):
        if rates[piece] == 0:
            if piece == last:
                return FAR, FAR
            now = starts[piece + 1]
            begin, left = now, work
            continue
        needed = -(-left // rates[piece])
        if piece == last or needed <= starts[piece + 1] - now:
            return begin, now + needed
        left -= rates[piece] * (starts[piece + 1] - now)
        now = starts[piece + 1]
    return FAR, FAR


@njit(cache=True, nogil=True)
def open_until(hours, lane, end, duration):  # type: ignore[no-untyped-def]
    """Latest start on a lane that ends by `end`; NEVER if there is none from 0 on."""
    starts, rates, first = hours[1], hours[2], hours[3]
    low, high = first[lane], first[lane + 1]
    if duration == 0:
        return end
    if end <= 0:
        return NEVER
    begin = low
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] < end:
            low = middle
        else:
            high = middle
    now = end
    work = duration * hours[4][lane]
    left = work
    for piece in range(low, begin - 1, -1):
        if rates[piece] == 0:
            now, left = starts[piece], work
            continue
        needed = -(-left // rates[piece])
        if needed <= now - starts[piece]:
            return now - needed
        left -= rates[piece] * (now - starts[piece])
        now = starts[piece]
    return NEVER


@njit(cache=True, nogil=True)
def start_at(hours, duration, c, ready):  # type: ignore[no-untyped-def]
    """Earliest start of an operation of class c that is ready then."""
    if hours[0][c] < 0:
        return ready
    return open_from(hours, hours[0][c], ready, duration[c])[0]


@njit(cache=True, nogil=True)
def end_from(hours, duration, c, ready):  # type: ignore[no-untyped-def]
    """Earliest end of an operation of class c that is ready then."""
    if hours[0][c] < 0:
        return ready + duration[c]
    return open_from(hours, hours[0][c], ready, duration[c])[1]


@njit(cache=True, nogil=True)
def start_until(hours, duration, c, end):  # type: ignore[no-untyped-def]
    """Latest start of an operation of class c that has ended by then."""
    if hours[0][c] < 0:
        return end - duration[c]
    return open_until(hours, hours[0][c], end, duration[c])


@njit(cache=True, nogil=True)
def chain_pass(target, r, q, duration, lag, chain, microbatches, machine_of, hours, dirty):  # type: ignore[no-untyped-def]
    """Carry windows along the chain of each microbatch and from one microbatch to the next."""
    lane_of = hours[0]
    for c in range(chain):
        # Calls are what takes time here: most lanes are open always.
        own, before = lane_of[c] >= 0, c > 0 and lane_of[c - 1] >= 0
        for j in range(microbatches):
            best = r[c, j]
            if j > 0:
                best = max(best, end_from(hours, duration, c, r[c, j - 1]) if own else r[c, j - 1] + duration[c])
            if c > 0:
                ready = end_from(hours, duration, c - 1, r[c - 1, j]) - duration[c - 1] if before else r[c - 1, j]
                best = max(best, ready + lag[c - 1])
            if own:
                best = start_at(hours, duration, c, best)
            if best > r[c, j]:
                r[c, j] = best
                if machine_of[c] >= 0:
                    dirty[machine_of[c]] = True
    for c in range(chain - 1, -1, -1):
        own, after = lane_of[c] >= 0, c + 1 < chain and lane_of[c + 1] >= 0
        for j in range(microbatches - 1, -1, -1):
            end = target - q[c, j]
            if j + 1 < microbatches:
                late = target - q[c, j + 1]
                end = min(end, start_until(hours, duration, c, late) if own else late - duration[c])
            if c + 1 < chain:
                late = target - q[c + 1, j]
                start = start_until(hours, duration, c + 1, late) if after else late - duration[c + 1]
                end = min(end, start - (lag[c] - duration[c]))
            if target - end > q[c, j]:
                q[c, j] = target - end
                if machine_of[c] >= 0:
                    dirty[machine_of[c]] = True


@njit(cache=True, nogil=True)
def arc_pass(target, r, q, duration, links, machine_of, hours, dirty):  # type: ignore[no-untyped-def]
    """Carry windows along single arcs and between extra operations and their places; tells whether any moved.

    An arc is (class, index, class, index, lag): the second starts a lag after the end of the first; with a lag of
    `TOGETHER`, no earlier than it starts.
    """
    arcs, group_class, group_first, group_member = links
    moved = False
    for row in range(len(arcs)):
        a, i, b, j, lag = arcs[row, 0], arcs[row, 1], arcs[row, 2], arcs[row, 3], arcs[row, 4]
        ready = r[a, i] if lag == TOGETHER else end_from(hours, duration, a, r[a, i]) + lag
        ready = start_at(hours, duration, b, ready)
        if ready > r[b, j]:
            r[b, j] = ready
            moved = True
            if machine_of[b] >= 0:
                dirty[machine_of[b]] = True
    for row in range(len(arcs) - 1, -1, -1):
        a, i, b, j, lag = arcs[row, 0], arcs[row, 1], arcs[row, 2], arcs[row, 3], arcs[row, 4]
        start = start_until(hours, duration, b, target - q[b, j])
        end = start - lag
        if lag == TOGETHER:
            end = start if start == NEVER else end_from(hours, duration, a, start)
        if target - end > q[a, i]:
            q[a, i] = target - end
            moved = True
            if machine_of[a] >= 0:
                dirty[machine_of[a]] = True
    for group in range(len(group_class)):
        x, first, size = group_class[group], group_first[group], group_first[group + 1] - group_first[group]
        early, late = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        for k in range(size):
            e = group_member[first + k]
            early[k] = r[e, 0]
            late[k] = start_until(hours, duration, e, target - q[e, 0])
        early.sort()
        late.sort()
        for k in range(size):
            ready = early[k]
            if k > 0:
                ready = max(ready, end_from(hours, duration, x, r[x, k - 1]))
            ready = start_at(hours, duration, x, ready)
            if ready > r[x, k]:
                r[x, k] = ready
                moved = True
                dirty[machine_of[x]] = True
        for k in range(size - 1, -1, -1):
            end = NEVER if late[k] == NEVER else end_from(hours, duration, x, late[k])
            if k + 1 < size:
                end = min(end, start_until(hours, duration, x, target - q[x, k + 1]))
            if target - end > q[x, k]:
                q[x, k] = target - end
                moved = True
                dirty[machine_of[x]] = True
    return moved


@njit(cache=True, nogil=True)
def fits(target, r, q, duration, count):  # type: ignore[no-untyped-def]
    """Whether every operation still has a start left."""
    for c in range(len(count)):
        for j in range(count[c]):
            if r[c, j] + duration[c] + q[c, j] > target:
                return False
    return True


@njit(cache=True, nogil=True)
def carry(target, r, q, duration, lag, chain, microbatches, count, machine_of, links, hours, dirty):  # type: ignore[no-untyped-def]
    """Carry windows along chain and arcs until nothing moves; tells whether every operation has a start left."""
    tied = len(links[0]) > 0 or len(links[1]) > 0
    while True:
        chain_pass(target, r, q, duration, lag, chain, microbatches, machine_of, hours, dirty)
        if not fits(target, r, q, duration, count):
            return False
        if not tied or not arc_pass(target, r, q, duration, links, machine_of, hours, dirty):
            return True
        if not fits(target, r, q, duration, count):
            return False


@njit(cache=True, nogil=True)
def machine_pass(  # type: ignore[no-untyped-def]
    target, counts, successors, forbidden, classes, size, duration, hours, r, q, latest, earliest, new_r, new_end
):
    """Shrink the windows of one machine; returns 0 if refuted, 1 if nothing moved, 2 if a window moved."""
    states = counts.shape[0]
    lane_of = hours[0]
    for s in range(states - 1, -1, -1):
        if forbidden[s] != 0:
            latest[s] = NEVER
            continue
        if s == states - 1:
            latest[s] = target
            continue
        best = NEVER
        for k in range(size):
            after = successors[s, k]
            if after < 0 or latest[after] == NEVER:
                continue
            c = classes[k]
            j = counts[s, k]
            end = min(latest[after], target - q[c, j])
            start = end - duration[c] if lane_of[c] < 0 else open_until(hours, lane_of[c], end, duration[c])
            if start >= r[c, j] and start > best:
                best = start
        latest[s] = best
    if latest[0] < 0:
        return 0
    for s in range(states):
        earliest[s] = FAR
    earliest[0] = 0
    for k in range(size):
        c = classes[k]
        for j in range(new_r.shape[1]):
            new_r[k, j] = FAR
            new_end[k, j] = NEVER
    for s in range(states):
        if earliest[s] > latest[s]:
            continue
        for k in range(size):
            after = successors[s, k]
            if after < 0 or latest[after] == NEVER:
                continue
            c = classes[k]
            j = counts[s, k]
            start = max(earliest[s], r[c, j])
            over = start + duration[c]
            if lane_of[c] >= 0:
                start, over = open_from(hours, lane_of[c], start, duration[c])
            end = min(latest[after], target - q[c, j])
            if over > end:
                continue
            if over < earliest[after]:
                earliest[after] = over
            if start < new_r[k, j]:
                new_r[k, j] = start
            if end > new_end[k, j]:
                new_end[k, j] = end
    if earliest[states - 1] == FAR:
        return 0
    moved = 1
    for k in range(size):
        c = classes[k]
        for j in range(counts[states - 1, k]):
            if new_r[k, j] == FAR:
                return 0
            if new_r[k, j] > r[c, j]:
                r[c, j] = new_r[k, j]
                moved = 2
            if target - new_end[k, j] > q[c, j]:
                q[c, j] = target - new_end[k, j]
                moved = 2
    return moved


@njit(cache=True, nogil=True)
def fixpoint(  # type: ignore[no-untyped-def]
    target,
    counts,
    successors,
    forbidden,
    first_state,
    classes,
    first_class,
    duration,
    lag,
    chain,
    microbatches,
    count,
    machine_of,
    links,
    hours,
    r,
    q,
    dirty,
    latest,
    earliest,
    new_r,
    new_end,
    passes,
):
    """Shrink all windows until nothing moves; returns whether the target stands (False: refuted)."""
    machines = len(first_state) - 1
    if not carry(target, r, q, duration, lag, chain, microbatches, count, machine_of, links, hours, dirty):
        return False
    while True:
        found = -1
        for machine in range(machines):
            if dirty[machine]:
                found = machine
                break
        if found < 0:
            return True
        dirty[found] = False
        a, b = first_state[found], first_state[found + 1]
        u, v = first_class[found], first_class[found + 1]
        passes[0] += 1
        outcome = machine_pass(
            target,
            counts[a:b],
            successors[a:b],
            forbidden[a:b],
            classes[u:v],
            v - u,
            duration,
            hours,
            r,
            q,
            latest,
            earliest,
            new_r,
            new_end,
        )
        if outcome == 0:
            return False
        if outcome == 2 and not carry(
            target, r, q, duration, lag, chain, microbatches, count, machine_of, links, hours, dirty
        ):
            return False


__all__ = ["FAR", "NEVER", "fixpoint", "machine_pass", "np"]
