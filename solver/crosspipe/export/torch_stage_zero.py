"""Stage 0 under torch: its `I` does nothing and its `W` runs the whole backward.

Where W follows B at once, the pair is written as one full backward `B`: same start, same end, same memory (nothing
is taken in between). Where other work stands between them, `I` and `W` are kept: the gradients are right and every
order is kept, but the work of B moves to W and so does the return of B's memory. `under_torch` is the problem that says
so, to predict with.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.problem import Problem


def adjacent_pairs(problem: Problem, sequence: Sequence[int], replica: int) -> frozenset[int]:
    """Find the microbatches whose W on stage 0 directly follows their B.

    Parameters
    ----------
    problem, replica
        Which operations are B and W of stage 0.
    sequence
        Compute operations of the device that holds stage 0, in order of execution.
    """
    found = set()
    for first, second in pairwise(sequence):
        microbatch = int(problem.operations.microbatch[first])
        pair = (problem.number(Kind.B, 0, microbatch, replica), problem.number(Kind.W, 0, microbatch, replica))
        if (first, second) == pair:
            found.add(microbatch)
    return frozenset(found)


def under_torch(problem: Problem, apart: frozenset[int], replica: int) -> Problem:
    """Return the problem in which stage 0's B of the microbatches `apart` takes no time and its W takes both times.

    What B gave back, W gives back; what B took (memory that only the backward needs), W takes.
    """
    duration, held = problem.operations.duration_ns.copy(), problem.holdings
    taken, given = held.taken_by.copy(), held.given_by.copy()
    for microbatch in apart:
        half, rest = (int(problem.numbers[kind, replica, 0, microbatch]) for kind in (Kind.B, Kind.W))
        duration[rest] += duration[half]
        duration[half] = 0
        taken[held.taken_by == half] = rest
        given[held.given_by == half] = rest
    return replace(
        problem,
        operations=replace(problem.operations, duration_ns=duration.astype(np.int64)),
        holdings=replace(held, taken_by=taken, given_by=given),
    )
