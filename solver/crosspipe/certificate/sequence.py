"""Which classes of operations may be taken to run in index order.

A class is all operations of one kind and stage (for messages also of one leg) in one replica. The spec may fix its
order. Else, where all microbatches are alike, sort the starts of each class of any schedule: the busy intervals stay,
so does the number of operations begun and ended by any time, hence what is held; and where every operation of one class
waits for its own microbatch's of another by the same lag, the sorted ones do as well. "Alike" is looked up here row by
row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem

    IntArray = NDArray[np.int64]

ClassKey = tuple[int, int, int, int]
"""Kind, replica, stage, leg."""


def ordered_classes(problem: Problem) -> dict[ClassKey, list[int]]:
    """Operation numbers of every class whose order of starts is known, in that order."""
    ops = problem.operations
    if problem.chains_required:
        lists = [chain.tolist() for chain in problem.chains]
    elif microbatches_alike(problem):
        lists = [row[row >= 0].tolist() for row in problem.numbers_by_leg.reshape(-1, problem.microbatches)]
    else:
        lists = []
    if problem.microbatches == 1:
        lists += [[number] for number in range(len(ops)) if ops.kind[number] != Kind.EXTRA]
    return {
        (int(ops.kind[row[0]]), int(ops.replica[row[0]]), int(ops.stage[row[0]]), int(ops.leg[row[0]])): row
        for row in lists
        if len(row) > 0
    }


def microbatches_alike(problem: Problem) -> bool:
    """Whether exchanging microbatches changes nothing: durations, resources, waits, holdings."""
    if len(set(problem.multipliers)) != 1:
        return False
    ops, waits, held, count = problem.operations, problem.precedences, problem.holdings, problem.microbatches
    extra = ops.kind == Kind.EXTRA
    # An extra operation is a class of its own, told by its number; it belongs to no microbatch.
    kind = ops.leg * len(Kind) + ops.kind
    name = (kind * len(problem.stages) + ops.stage) * problem.replicas + ops.replica
    own = np.where(extra, -1 - np.arange(len(ops)), name)
    plain = ~extra
    columns = (own[plain], ops.duration_ns[plain], ops.resource[plain])
    if not _alike(columns, ops.microbatch[plain], count):
        return False
    before, after = waits.before, waits.after
    inner, outer = plain[before] & plain[after], extra[before] != extra[after]
    microbatch = np.where(extra[before], ops.microbatch[after], ops.microbatch[before])
    if (ops.microbatch[before] != ops.microbatch[after])[inner].any():
        return False
    either = inner | outer
    columns = (own[before[either]], own[after[either]], waits.lag_ns[either])
    if not _alike(columns, microbatch[either], count):
        return False
    # What one extra operation takes and another gives back is no microbatch's.
    rows = np.flatnonzero(~(extra[held.taken_by] & extra[held.given_by]))
    taken, given = held.taken_by[rows], held.given_by[rows]
    if extra[taken].any() or extra[given].any() or (ops.microbatch[taken] != ops.microbatch[given]).any():
        return False
    return _alike((own[taken], own[given], held.pool[rows], held.amount[rows]), ops.microbatch[taken], count)


def _alike(columns: tuple[IntArray, ...], microbatch: IntArray, count: int) -> bool:
    """Whether every microbatch has the same rows, counted."""
    if not len(microbatch):
        return True
    order = np.lexsort((microbatch, *columns))
    sorted_columns = np.stack([column[order] for column in columns])
    place = microbatch[order]
    new_row = np.concatenate([[True], (sorted_columns[:, 1:] != sorted_columns[:, :-1]).any(axis=0)])
    new_cell = new_row | np.concatenate([[True], place[1:] != place[:-1]])
    cells = np.diff(np.append(np.flatnonzero(new_cell), len(place)))
    if len(cells) != count * np.count_nonzero(new_row):
        return False
    table = cells.reshape(-1, count)
    return bool((table == table[:, :1]).all())
