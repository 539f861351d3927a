"""The compiled inner loops: windows of all operations for a target time, to a fixpoint.

For a target T operation j of class c has a window: it starts no earlier than r[c, j] and leaves at least q[c, j] after
its end. One pass over a machine's states computes, backwards, the latest time L at which each state may be reached
so that the rest still fits, and forwards the earliest time E; windows shrink to what some path uses (notes of the
`fixpoint` module give the proof). Arrays of all machines lie one after another: `first_state`, `first_class` say where
each begins, `classes` which global class a local one is.
"""

from __future__ import annotations

from crosspipe.lattice.cache import choose_cache_folder

choose_cache_folder()  # must be settled before the compiler is loaded

import numpy as np  # noqa: E402
from numba import njit  # noqa: E402

NEVER = -(2**60)
FAR = 2**60


@njit(cache=True, nogil=True)
def chain_pass(r, q, duration, lag, chain, microbatches, machine_of, dirty):  # type: ignore[no-untyped-def]
    """Carry windows along the chain of each microbatch and from one microbatch to the next."""
    for c in range(chain):
        for j in range(microbatches):
            best = r[c, j]
            if j > 0 and r[c, j - 1] + duration[c] > best:
                best = r[c, j - 1] + duration[c]
            if c > 0 and r[c - 1, j] + lag[c - 1] > best:
                best = r[c - 1, j] + lag[c - 1]
            if best > r[c, j]:
                r[c, j] = best
                if machine_of[c] >= 0:
                    dirty[machine_of[c]] = True
    for c in range(chain - 1, -1, -1):
        for j in range(microbatches - 1, -1, -1):
            best = q[c, j]
            if j + 1 < microbatches and q[c, j + 1] + duration[c] > best:
                best = q[c, j + 1] + duration[c]
            if c + 1 < chain and q[c + 1, j] + duration[c + 1] + lag[c] - duration[c] > best:
                best = q[c + 1, j] + duration[c + 1] + lag[c] - duration[c]
            if best > q[c, j]:
                q[c, j] = best
                if machine_of[c] >= 0:
                    dirty[machine_of[c]] = True


@njit(cache=True, nogil=True)
def machine_pass(  # type: ignore[no-untyped-def]
    target, counts, successors, forbidden, classes, size, duration, r, q, latest, earliest, new_r, new_end
):
    """Shrink the windows of one machine; returns 0 if refuted, 1 if nothing moved, 2 if a window moved."""
    states = counts.shape[0]
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
            start = end - duration[c]
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
            end = min(latest[after], target - q[c, j])
            if start + duration[c] > end:
                continue
            if start + duration[c] < earliest[after]:
                earliest[after] = start + duration[c]
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
    machine_of,
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
    chain_pass(r, q, duration, lag, chain, microbatches, machine_of, dirty)
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
            r,
            q,
            latest,
            earliest,
            new_r,
            new_end,
        )
        if outcome == 0:
            return False
        if outcome == 2:
            chain_pass(r, q, duration, lag, chain, microbatches, machine_of, dirty)
        for c in range(chain):
            for j in range(microbatches):
                if r[c, j] + duration[c] + q[c, j] > target:
                    return False


__all__ = ["FAR", "NEVER", "chain_pass", "fixpoint", "machine_pass", "np"]
