"""The MILP after the appendix of the Zero Bubble paper (arXiv 2401.10241), written with PuLP.

Variables: the end E of every F, B and W, and for each pair of unlike passes of one stage whose order is open a binary
that says which comes first. Passes of one kind run in order of microbatches; for j <= i, F(j) precedes B(i) and W(i),
and B(j) precedes W(i). Big-M rows order the open pairs. Memory: at each pass, its own change and those of the passes
before it stay within the limit. Objective: the largest span of a stage, as in the paper, or the end of the last W,
counted from 0; it is no less than the end of each pass and the passes after it. Two additions to the paper, so that the
model is no weaker than it need be: each pass ends after all that runs before it, and messages on lanes are chained.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulp  # type: ignore[import-untyped]  # PuLP has no types

from bench.peers.stage_view import KINDS
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from bench.peers.stage_view import Message, StageView

Pass = tuple[Kind, int]
"""Kind and microbatch of a pass."""


@dataclass(slots=True)
class Milp:
    """The model and its variables.

    Attributes
    ----------
    ends
        End of each pass: per stage, kind and microbatch.
    sent
        End on the lane of each message: per boundary, direction (the kind of the pass that sends it), microbatch.
    first
        Per stage and pair of passes, 1 if the one named first runs first.
    """

    problem: pulp.LpProblem
    view: StageView
    objective: Objective
    worst: int
    value: pulp.LpVariable
    ends: dict[tuple[int, Kind, int], pulp.LpVariable] = field(default_factory=dict)
    sent: dict[tuple[int, Kind, int], pulp.LpVariable] = field(default_factory=dict)
    first: dict[tuple[int, Pass, Pass], pulp.LpVariable] = field(default_factory=dict)


def build(view: StageView, objective: Objective, worst: int) -> Milp:
    """Build the model.

    Parameters
    ----------
    worst
        A value in units that is reached for sure: no pass of a stage then starts or ends further apart.
    """
    problem = pulp.LpProblem("zero_bubble", pulp.LpMinimize)
    latest = worst if objective is Objective.MAKESPAN else None
    milp = Milp(problem, view, objective, worst, problem.add_variable("value", 0, worst))
    problem += milp.value
    for stage in range(view.stages):
        for kind in KINDS:
            for j in range(view.microbatches):
                name = f"E_{stage}_{kind.name}_{j}"
                milp.ends[stage, kind, j] = problem.add_variable(name, view.times[stage][kind], latest)
        _order(milp, stage)
        _add_up(milp, stage)
        _remember(milp, stage)
        _measure(milp, stage)
    for boundary in range(view.stages - 1):
        _send(milp, boundary, boundary + 1, Kind.F, view.down[boundary])
        _send(milp, boundary + 1, boundary, Kind.B, view.up[boundary])
    return milp


def _order(milp: Milp, stage: int) -> None:
    """Chains of one kind, F before B before W of one microbatch, and the open pairs."""
    view, count = milp.view, milp.view.microbatches
    for kind in KINDS:
        for j in range(count - 1):
            _after(milp, stage, (kind, j), (kind, j + 1))
    for j in range(count):
        _after(milp, stage, (Kind.F, j), (Kind.B, j))
        _after(milp, stage, (Kind.B, j), (Kind.W, j))
    for earlier, later in ((Kind.F, Kind.B), (Kind.B, Kind.W), (Kind.F, Kind.W)):
        for j in range(count):
            for i in range(j):
                one, two = (earlier, j), (later, i)
                name = f"O_{stage}_{earlier.name}{j}_{later.name}{i}"
                before = milp.problem.add_variable(name, cat=pulp.LpBinary)
                milp.first[stage, one, two] = before
                apart = milp.worst
                ends = milp.ends
                times = view.times[stage]
                milp.problem += ends[stage, *two] - ends[stage, *one] - apart * before >= times[later] - apart
                milp.problem += ends[stage, *one] - ends[stage, *two] + apart * before >= times[earlier]


def _after(milp: Milp, stage: int, one: Pass, two: Pass) -> None:
    milp.problem += milp.ends[stage, *two] - milp.ends[stage, *one] >= milp.view.times[stage][two[0]]


def _passes(milp: Milp) -> list[Pass]:
    return [(kind, j) for kind in KINDS for j in range(milp.view.microbatches)]


def _add_up(milp: Milp, stage: int) -> None:
    """Hold each pass behind all that its stage runs before it: big-M rows let fractional orders cost nothing."""
    times = milp.view.times[stage]
    begun = milp.ends[stage, Kind.F, 0] - times[Kind.F]
    for one in _passes(milp):
        before = [times[other[0]] * _precedes(milp, stage, other, one) for other in _passes(milp) if other != one]
        milp.problem += milp.ends[stage, *one] - begun - pulp.lpSum(before) >= times[one[0]]


def _remember(milp: Milp, stage: int) -> None:
    """Keep the memory limit at every pass, where it takes some or, which only tightens the relaxation, gives some."""
    view = milp.view
    room, taken, left = view.room[stage], view.taken[stage], view.left[stage]
    if room is None:
        return
    for one in _passes(milp):
        held = [
            left[other[0]] * _precedes(milp, stage, other, one)
            for other in _passes(milp)
            if other != one and left[other[0]]
        ]
        own = taken[one[0]] or left[one[0]]
        milp.problem += pulp.lpSum(held) <= room - own


def _precedes(milp: Milp, stage: int, one: Pass, two: Pass) -> pulp.LpVariable | pulp.LpAffineExpression | int:
    """Whether one pass runs before another: known, a binary, or its opposite."""
    if (stage, one, two) in milp.first:
        return milp.first[stage, one, two]
    if (stage, two, one) in milp.first:
        return 1 - milp.first[stage, two, one]
    return int((one[1], one[0]) < (two[1], two[0]))


def _measure(milp: Milp, stage: int) -> None:
    """Hold the value above the end of each pass and all that its stage runs after it."""
    times = milp.view.times[stage]
    begun = milp.ends[stage, Kind.F, 0] - times[Kind.F] if milp.objective is Objective.SPAN else 0
    for one in _passes(milp):
        after = [times[other[0]] * _precedes(milp, stage, one, other) for other in _passes(milp) if other != one]
        milp.problem += milp.value - milp.ends[stage, *one] + begun - pulp.lpSum(after) >= 0


def _send(milp: Milp, sender: int, receiver: int, kind: Kind, message: Message) -> None:
    """Chain the passes of two neighbours; a message on a lane waits for the one before it."""
    boundary = min(sender, receiver)
    for j in range(milp.view.microbatches):
        gone = milp.ends[sender, kind, j]
        if message.transfer:
            sent = milp.problem.add_variable(f"S_{boundary}_{kind.name}_{j}", 0)
            milp.sent[boundary, kind, j] = sent
            milp.problem += sent - gone >= message.transfer
            if j:
                milp.problem += sent - milp.sent[boundary, kind, j - 1] >= message.transfer
            gone = sent
        arrived = message.latency + milp.view.times[receiver][kind]
        milp.problem += milp.ends[receiver, kind, j] - gone >= arrived
