"""Problems written by hand, operation by operation, and models with one group of constraints each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from crosspipe.model.scale import LARGEST_HORIZON
from crosspipe.model.ticks import Ticks, to_ticks
from crosspipe.model.variables import Variables, make_variables
from crosspipe.problem.links import Lane, Window
from crosspipe.problem.operations import NO_DEADLINE, NO_RESOURCE, Holdings, Kind, Operations, Precedences
from crosspipe.problem.problem import Device, Objective, Pool, Problem, StageInfo
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.schedule.orders import Schedule


@dataclass
class Draft:
    """A problem being written: devices hold the stages listed, then lanes follow as resources.

    Attributes
    ----------
    stages_of
        Stages of each device.
    windows_of
        Windows of each lane.
    multipliers
        One per microbatch.
    """

    stages_of: list[tuple[int, ...]]
    windows_of: list[tuple[Window, ...]] = field(default_factory=list)
    multipliers: tuple[str, ...] = ("1",)
    fixed: bool = False
    rows: list[tuple[Kind, int, int, int, int]] = field(default_factory=list)
    links: list[tuple[int, int, int]] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    holds: list[tuple[int, int, int, int]] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)

    def op(self, kind: Kind, stage: int, microbatch: int, duration: int, resource: int = NO_RESOURCE) -> int:
        """Add an operation."""
        self.rows.append((kind, stage, microbatch, duration, resource))
        return len(self.rows) - 1

    def lane(self, number: int = 0) -> int:
        """Give the resource number of a lane."""
        return len(self.stages_of) + number

    def after(self, before: int, after: int, lag: int = 0) -> None:
        """Add a precedence."""
        self.links.append((before, after, lag))

    def pool(self, device: int, capacity: int | None, base: int = 0) -> int:
        """Add a memory pool."""
        self.pools.append(Pool("memory", "bytes", device, capacity, base))
        return len(self.pools) - 1

    def hold(self, pool: int, taker: int, giver: int, amount: int) -> None:
        """Add a holding."""
        self.holds.append((pool, taker, giver, amount))

    def problem(self) -> Problem:
        """Finish."""
        kind, stage, microbatch, duration, resource = _columns(self.rows, 5)
        due = None
        if self.due:
            due = np.full(len(self.rows), NO_DEADLINE, dtype=np.int64)
            due[list(self.due)] = list(self.due.values())
        return Problem(
            digest="draft",
            traversal="map",
            stages=tuple(StageInfo(None, device) for device, stages in enumerate(self.stages_of) for _ in stages),
            multipliers=self.multipliers,
            replicas=1,
            merged_replicas=1,
            devices=tuple(Device(f"d{n}/0", f"d{n}", 0, stages) for n, stages in enumerate(self.stages_of)),
            lanes=tuple(Lane(f"l{n}", f"l{n}", None, 10, windows) for n, windows in enumerate(self.windows_of)),
            operations=Operations(
                kind, stage, microbatch, np.zeros_like(kind), duration, resource, np.zeros_like(kind)
            ),
            precedences=Precedences(*_columns(self.links, 3)),
            pools=tuple(self.pools),
            holdings=Holdings(*_columns(self.holds, 4)),
            hops=(),
            chains=tuple(np.array(chain, dtype=np.int64) for chain in self.chains),
            chains_required=self.fixed,
            due_ns=due,
        )


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> list[np.ndarray]:
    table = np.array([[int(entry) for entry in row] for row in rows], dtype=np.int64).reshape(-1, width)
    return [np.ascontiguousarray(column) for column in table.T]


def pipeline(
    stages_of: list[tuple[int, ...]],
    microbatches: int,
    times: tuple[int, int, int] = (1, 1, 1),
    lag: int = 0,
    capacity: int | None = None,
    amounts: tuple[int, int] = (1, 1),
    transfer: int = 0,
    windows: tuple[Window, ...] = (),
) -> tuple[Draft, dict[tuple[Kind, int, int], int]]:
    """Draft a pipeline with split backward: times of F, B, W, and of a hop its `transfer` and its `lag`.

    `amounts`: what F takes, and the part of it held to the end of W (the rest goes at the end of B). All activations
    share lane 0 and all gradients lane 1, if a transfer takes time at all; both have the windows given.
    """
    draft = Draft(stages_of, [windows, windows] if transfer else [], ("1",) * microbatches)
    place = {stage: device for device, stages in enumerate(stages_of) for stage in stages}
    ops = {
        (kind, stage, j): draft.op(kind, stage, j, time, place[stage])
        for kind, time in zip((Kind.F, Kind.B, Kind.W), times, strict=True)
        for stage in sorted(place)
        for j in range(microbatches)
    }
    pools = [draft.pool(device, capacity) for device in range(len(stages_of))]
    for stage, j in itertools.product(sorted(place), range(microbatches)):
        forward, backward, weight = (ops[kind, stage, j] for kind in (Kind.F, Kind.B, Kind.W))
        draft.after(forward, backward)
        draft.after(backward, weight)
        if stage + 1 in place:
            ends = (forward, ops[Kind.F, stage + 1, j]), (ops[Kind.B, stage + 1, j], backward)
            for kind, (sender, receiver) in zip((Kind.ACTIVATION, Kind.GRADIENT), ends, strict=True):
                if place[stage] == place[stage + 1]:
                    draft.after(sender, receiver)
                elif transfer:
                    sent = draft.op(kind, stage, j, transfer, draft.lane(kind - Kind.ACTIVATION))
                    ops[kind, stage, j] = sent
                    draft.after(sender, sent)
                    draft.after(sent, receiver, lag)
                else:
                    draft.after(sender, receiver, lag)
        whole, kept = amounts
        draft.hold(pools[place[stage]], forward, weight, kept)
        if whole > kept:
            draft.hold(pools[place[stage]], forward, backward, whole - kept)
    classes = dict.fromkeys((kind, stage) for kind, stage, _ in ops)
    draft.chains = [[ops[kind, stage, j] for j in range(microbatches)] for kind, stage in classes]
    return draft, ops


def one_after_the_other(problem: Problem, objective: Objective) -> Schedule:
    """Schedule a drafted pipeline one microbatch at a time."""
    ops = problem.operations
    upward = (ops.kind == Kind.F) | (ops.kind == Kind.ACTIVATION)
    phase = np.where(upward, 0, np.where(ops.kind == Kind.W, 2, 1))
    order = np.lexsort((np.where(upward, ops.stage, -ops.stage), phase, ops.microbatch))
    sequences = (order[ops.resource[order] == number] for number in range(problem.resources))
    return timed(problem, Orders(tuple(sequences)), objective)


def ticks_of(draft: Draft, objective: Objective = Objective.MAKESPAN, largest: int = LARGEST_HORIZON) -> Ticks:
    """Scale a draft."""
    return to_ticks(draft.problem(), objective, None, largest)


def accepts(
    draft: Draft,
    add: Callable[[cp_model.CpModel, Variables, Ticks], None],
    starts: Sequence[int],
    objective: Objective = Objective.MAKESPAN,
) -> bool:
    """Tell whether one group of constraints, alone, accepts these start times."""
    ticks = ticks_of(draft, objective)
    nothing = np.zeros(len(starts), dtype=np.int64)
    model = cp_model.CpModel()
    variables = make_variables(model, ticks, nothing, nothing, (0, ticks.horizon))
    assert variables is not None
    add(model, variables, ticks)
    for variable, start in zip(variables.start, starts, strict=True):
        model.add(variable == ticks.scale.ticks(start))
    status = cp_model.CpSolver().solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return status != cp_model.INFEASIBLE
