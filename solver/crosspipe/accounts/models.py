"""An account of a schedule as data: where its time goes, what would help, and why the model is cut as it is.

Times are milliseconds, exact decimals of integer nanoseconds; sizes megabytes. The parts of a sum add up exactly.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crosspipe.answer.base import AnswerModel
from crosspipe.answer.models import Explanation

PathKind = Literal["F", "B", "W", "BW", "transfer", "latency", "closed", "extra", "delay"]
IdleKind = Literal[
    "warm_up", "memory", "latency", "transfer", "queue", "closed", "upstream", "extra", "cool_down", "delay"
]


class PathStep(AnswerModel):
    """A stretch of the critical path."""

    kind: PathKind = Field(
        description="Compute (`F`, `B`, `W`, `BW`), `transfer` on a lane, `latency` after it, `closed` lane, "
        "`extra` operation, `delay` where the schedule waits for nothing"
    )
    what: str = Field(description="The operation, in words")
    where: str = Field(description="Device, lane or link; empty for none")
    start_ms: float = Field(description="When it begins")
    end_ms: float = Field(description="When it ends")


class PathPart(AnswerModel):
    """What the critical path spends on one kind of thing in one place."""

    kind: PathKind = Field(description="As of the steps")
    where: str = Field(description="Device, lane or link; empty for none")
    ms: float = Field(description="All together")
    count: int = Field(description="Steps")
    share: float = Field(description="Of the makespan")


class IdlePart(AnswerModel):
    """What a device spends its idle time on."""

    kind: IdleKind = Field(
        description="`warm_up` before its first operation; `memory` while a forward was ready and found no room; "
        "`latency`, `transfer` of the message it waits for; `queue` while that message waits for others on its lane, "
        "`closed` while for the lane itself; `upstream` while another device still works on it; `extra` operations; "
        "`cool_down` after its last; `delay` where the schedule waits for nothing"
    )
    where: str = Field(description="Link, lane, pool or device that it waits for; empty for none")
    ms: float = Field(description="All together")


class DeviceAccount(AnswerModel):
    """Where the time of a device goes: busy and the idle parts make the makespan."""

    device: str = Field(description="Name of the device")
    replica: int = Field(description="Pipeline copy it belongs to")
    busy_ms: float = Field(description="Forward and backward work")
    idle_ms: float = Field(description="Makespan minus busy time")
    idle: list[IdlePart] = Field(description="Longest first; they add up to `idle_ms`")


class Load(AnswerModel):
    """How much a device or lane has to do, whatever the order."""

    resource: str = Field(description="Device or lane")
    kind: Literal["device", "lane"] = Field(description="Which of the two")
    busy_ms: float = Field(description="All its operations, extra ones too")
    share: float = Field(description="Of the makespan")
    share_of_bound: float | None = Field(description="Of the lower bound: 1 where it alone is the bound; null for none")


class Help(AnswerModel):
    """What one change of the cluster would give at most and at least, by known schedules and bounds (no search)."""

    what: Literal["latency", "bandwidth", "memory"] = Field(
        description="No latency between sites; transfers between sites in no time; unlimited memory"
    )
    value_ms: float = Field(description="A schedule of this value exists then")
    lower_bound_ms: float = Field(description="None is faster even then")
    gain: float = Field(description="1 - value_ms / value now, at least")
    gain_at_most: float = Field(description="1 - lower_bound_ms / value now")
    evidence: str = Field(description="What in the schedule speaks for it or against")


class Move(AnswerModel):
    """One layer moved over one boundary of the cut, and what becomes of it."""

    layer: str = Field(description="What moves")
    from_stage: int = Field(description="The stage that has it")
    to_stage: int = Field(description="The neighbour that would have it")
    verdict: Literal["impossible", "proved_worse", "worse", "equal", "better", "unknown"] = Field(
        description="`impossible`: no schedule exists; `proved_worse`: none is as fast; `worse`, `equal`, `better`: by "
        "the schedules known for it; `unknown`: not looked at"
    )
    value_ms: float | None = Field(description="Best schedule known for that cut; null for none")
    lower_bound_ms: float | None = Field(description="None is faster with that cut; null where not computed")
    missing_mb: float | None = Field(description="Memory that it lacks; null where that is not the reason")
    bottleneck: str | None = Field(description="Device or lane with most to do with that cut")
    bottleneck_ms: float | None = Field(description="What that has to do")
    boundary_mb: float | None = Field(description="Message over the boundary with that cut, where it crosses sites")
    reason: str = Field(description="The whole in words")


class CutAccount(AnswerModel):
    """Why the model is cut as it is: the bottleneck, and each move of one layer to a neighbouring stage."""

    layers: list[int] = Field(description="Items of each stage: layers, and the head of a named model")
    bottleneck_stage: int = Field(description="The stage that takes longest on its device")
    bottleneck_ms: float = Field(description="What it takes for all microbatches")
    moves: list[Move] = Field(description="Both ways over each boundary")
    runner_up: Move | None = Field(description="The best of the moves that has a schedule; null for none")


class Account(AnswerModel):
    """Why a schedule takes as long as it does."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"] = Field(description="As in an answer")
    objective: Literal["makespan", "span"] = Field(description="What the answer made small")
    value_ms: float | None = Field(description="Of the objective; null without a schedule")
    makespan_ms: float | None = Field(description="What the parts add up to; null without a schedule")
    lower_bound_ms: float | None = Field(description="No schedule is faster; null where none is known")
    bound_from: str | None = Field(description="Which bound, and the device, lane or chain it comes from")
    path: list[PathStep] = Field(description="The critical path: from 0 to the makespan without a pause")
    path_parts: list[PathPart] = Field(description="The same by kind and place, longest first")
    devices: list[DeviceAccount] = Field(description="Where the time of every device goes")
    loads: list[Load] = Field(description="Devices and lanes, the busiest first: that is the bottleneck")
    helps: list[Help] = Field(description="What would help, most first")
    cut: CutAccount | None = Field(description="Null where the stages were given")
    explanation: Explanation | None = Field(description="Why there is no schedule; null where there is one")
    notes: list[str] = Field(description="How the account was made, and what was left out")


__all__ = [
    "Account",
    "CutAccount",
    "DeviceAccount",
    "Help",
    "IdleKind",
    "IdlePart",
    "Load",
    "Move",
    "PathKind",
    "PathPart",
    "PathStep",
]
