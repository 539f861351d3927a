"""Compiling the kernels once: `python -m crosspipe.lattice.warm`.

Compiled kernels are kept on disk (beside the package if that can be written, else in the temporary folder), so this
takes seconds once per installation. A solve whose time is short does without them until they are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosspipe.lattice.cache import is_warm, stamp_path
from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.links import Hop, Lane, Leg
from crosspipe.problem.operations import Holdings, Kind, Operations, Precedences
from crosspipe.problem.problem import Device, Pool, Problem, StageInfo


def warm_up() -> None:
    """Compile all kernels, unless they are compiled already."""
    if is_warm():
        return
    lattice = lattice_of(_smallest_problem(), most_states=10**4)
    if lattice is None:
        raise RuntimeError("the smallest problem must have a lattice")
    diver = Diver(Tables(lattice))
    for pair in (0, 1, 2):
        diver.dive(20, Rule(pair, 0, 0.1), seed=0, most_failures=10, most_nodes=100)
    path = stamp_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def _smallest_problem() -> Problem:
    """Two stages on two devices with a lane between them, two microbatches: every kernel has something to do."""
    rows = [
        (kind, stage, microbatch, resource)
        for kind, stage, resource in (
            (Kind.F, 0, 0),
            (Kind.F, 1, 1),
            (Kind.B, 0, 0),
            (Kind.B, 1, 1),
            (Kind.W, 0, 0),
            (Kind.W, 1, 1),
            (Kind.ACTIVATION, 0, 2),
            (Kind.GRADIENT, 0, 3),
        )
        for microbatch in (0, 1)
    ]
    kinds, stages, microbatches, resources = (_array(column) for column in zip(*rows, strict=True))
    count = len(rows)
    zeros, ones, none = _array([0] * count), _array([1] * count), _array([])
    operations = Operations(kinds, stages, microbatches, zeros, ones, resources, zeros)
    hops = (
        Hop(0, Kind.ACTIVATION, 0, 1, (Leg("a-b", (2,), 1, 0),)),
        Hop(0, Kind.GRADIENT, 1, 0, (Leg("a-b", (3,), 1, 0),)),
    )
    return Problem(
        digest="",
        traversal="unidirectional",
        stages=(StageInfo(None, 0), StageInfo(None, 1)),
        multipliers=("1", "1"),
        replicas=1,
        merged_replicas=1,
        devices=(Device("a/0", "a", 0, (0,)), Device("b/0", "b", 0, (1,))),
        lanes=(Lane("a-b/out", "a-b", None), Lane("a-b/back", "a-b", None)),
        operations=operations,
        precedences=Precedences(none, none, none),
        pools=(Pool("memory", "bytes", 0, None), Pool("memory", "bytes", 1, None)),
        holdings=Holdings(none, none, none, none),
        hops=hops,
        chains=(),
        chains_required=False,
    )


def _array(values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


if __name__ == "__main__":
    warm_up()
