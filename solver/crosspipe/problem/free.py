"""The same devices with free links between sites: what the wide-area network costs is measured against it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosspipe.problem.problem import Problem


def crosses_sites(problem: Problem) -> bool:
    """Whether any message or gradient passes between two sites."""
    return bool(_crossing(problem).any()) or bool(problem.between_sites)


def free_links(problem: Problem) -> Problem:
    """Make all that passes between two sites arrive the moment it is sent; lanes inside sites stay as they are."""
    ops, precedences, crossing = problem.operations, problem.precedences, _crossing(problem)
    stage = np.clip(ops.stage, 0, len(crossing) - 1)
    freed = ((ops.kind == Kind.ACTIVATION) | (ops.kind == Kind.GRADIENT)) & crossing[stage]
    freed[list(problem.between_sites)] = True
    duration = np.where(freed, 0, ops.duration_ns)
    before, after = precedences.before, precedences.after
    # A message belongs to the lower of the stages at its ends; no other precedence joins two stages.
    boundary = np.clip(np.minimum(ops.stage[before], ops.stage[after]), 0, len(crossing) - 1)
    between = (ops.kind[before] != Kind.EXTRA) & (ops.kind[after] != Kind.EXTRA) & crossing[boundary]
    between |= (ops.kind[before] == Kind.EXTRA) & freed[before]
    lag = np.where(between, 0, precedences.lag_ns)
    lanes = set(ops.resource[freed].tolist())
    first = len(problem.devices)
    return replace(
        problem,
        operations=replace(ops, duration_ns=duration),
        precedences=replace(precedences, lag_ns=lag),
        hops=tuple(
            replace(hop, legs=tuple(replace(leg, transfer_ns=0, latency_ns=0) for leg in hop.legs))
            if crossing[hop.boundary]
            else hop
            for hop in problem.hops
        ),
        lanes=tuple(
            replace(lane, windows=()) if first + number in lanes else lane for number, lane in enumerate(problem.lanes)
        ),
    )


def _crossing(problem: Problem) -> NDArray[np.bool_]:
    """Tell for each boundary whether its two stages sit in different sites; at least one entry."""
    sites = [problem.devices[stage.device].site for stage in problem.stages]
    return np.array([a != b for a, b in pairwise(sites)] or [False], dtype=bool)
