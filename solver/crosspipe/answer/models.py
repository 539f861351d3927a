"""The answer as data: what the service returns, the command line prints and Python hands over.

Times are milliseconds, exact decimals of integer nanoseconds; sizes megabytes (10^6 bytes). Null means unknown or
unlimited, as each field says; no other value stands for either.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from crosspipe.answer.base import AnswerModel
from crosspipe.answer.cut_models import Cut
from crosspipe.spec.model import Recompute


class ObjectiveValue(AnswerModel):
    """The objective, its value and what is proved of it."""

    name: Literal["makespan", "span"]
    value_ms: float | None = Field(description="Value of the schedule; null without a schedule")
    lower_bound_ms: float | None = Field(description="No schedule can be better than this; null where none is known")
    bound_from: str | None = Field(description="Which bound, and the device, lane or chain it comes from")
    gap: float | None = Field(description="(value - bound) / value")


class PeakShare(AnswerModel):
    """How full the memory of the fullest device gets: its peak over what it has, static memory in both."""

    share: float = Field(description="Peak / capacity of the fullest device, 0 to 1")
    lower_bound: float | None = Field(
        description="No schedule of this value on this placement has a smaller share; null where it was not looked for"
    )
    proved: bool = Field(description="Whether no schedule of this value on this placement has a smaller share")
    device: str = Field(description="The fullest device, the first of equals")
    replica: int = Field(description="Replica of the device")
    peak_memory_mb: float = Field(description="Most that it holds, static memory included")
    memory_mb: float = Field(description="Its usable memory")


class InFlightTime(AnswerModel):
    """Time from the start of F until the activations are wholly given back, over all stages and microbatches.

    They are at the end of W where it holds a part of them, else at the end of B or BW.
    """

    value_ms: float = Field(description="Over all stages, microbatches and replicas")
    lower_bound_ms: float | None = Field(
        description="The round trips of all microbatches, each on an empty pipeline; null where it was not looked for"
    )
    proved: bool = Field(description="Whether no schedule at all holds activations for less")
    least_in_orders: bool = Field(
        description="Whether no other times of the same orders hold them for less at this value"
    )


class SecondTerms(AnswerModel):
    """What is made small after the objective, at no loss of it: the share of memory, then the time in flight."""

    peak_share: PeakShare | None = Field(description="Null where no device has a limit")
    in_flight_time: InFlightTime = Field(description="How long activations are held, all together")
    notes: list[str] = Field(description="What was not tried, and why")


class StageAssignment(AnswerModel):
    """Where a stage lives."""

    stage: int
    layers: str | None
    device: str
    site: str
    end_item: int | None = Field(
        default=None,
        description="Where layers are cut: the item (layer, or the head of a named model) that it ends before",
    )
    recompute: Recompute | None = Field(default=None, description="Where layers are cut: what it recomputes")


class ComputeColumns(AnswerModel):
    """Compute operations in order, one entry per operation in every column."""

    kind: list[str] = Field(description="F, B (input gradient), W (weight gradient) or BW (both)")
    stage: list[int]
    microbatch: list[int]
    start_ms: list[float]
    end_ms: list[float]


class MemoryCurve(AnswerModel):
    """Memory held from each time on, until the next."""

    at_ms: list[float]
    memory_mb: list[float]


class DeviceSchedule(AnswerModel):
    """What one device does, in order."""

    device: str
    site: str
    replica: int
    busy_ms: float
    idle_ms: float = Field(description="Makespan minus busy time")
    peak_memory_mb: float
    peak_at_ms: float
    memory_mb: float | None = Field(description="Usable memory; null = unlimited")
    operations: ComputeColumns | None = Field(description="Null at detail `summary`")
    memory_curve: MemoryCurve | None = Field(default=None, description="At detail `full`")


class TransferColumns(AnswerModel):
    """Messages and extra operations of a lane in order, one entry per operation in every column."""

    kind: list[str] = Field(description="activation, gradient or extra")
    stage: list[int] = Field(description="The lower of the two stages; -1 for an extra operation")
    microbatch: list[int]
    replica: list[int]
    leg: list[int] = Field(description="Place of the link on the way of the message, from 0; 0 for an extra operation")
    name: list[str | None] = Field(description="Name of an extra operation, else null")
    start_ms: list[float]
    end_ms: list[float]
    arrival_ms: list[float] = Field(description="End plus one-way latency")


class LaneSchedule(AnswerModel):
    """What one lane carries, in order."""

    lane: str
    replica: int | None = Field(description="Null where all replicas share the lane")
    busy_ms: float
    operations: TransferColumns | None = Field(description="Null at detail `summary`")


class ExtraSchedule(AnswerModel):
    """When an extra operation runs, and on what."""

    name: str
    start_ms: float
    end_ms: float
    device: str | None
    lane: str | None


class FamilyRow(AnswerModel):
    """A known schedule on the same devices: its value and largest memory, or why it does not fit."""

    name: str
    traversal: str
    fits: bool
    value_ms: float | None
    peak_memory_mb: float | None
    reason: str | None


class LegCost(AnswerModel):
    """What a message costs on one of several links on its way."""

    link: str
    transfer_ms: float
    latency_ms: float


class HopCost(AnswerModel):
    """What a message costs between two neighbouring stages."""

    boundary: int = Field(description="The lower of the two stages")
    kind: Literal["activation", "gradient"]
    link: str | None = Field(description="Null for a hand-over on one device; several links stand in order: `c-b, b-a`")
    transfer_ms: float
    latency_ms: float
    legs: list[LegCost] | None = Field(description="Each link on the way; null unless there are several")


class WorstPhaseRow(AnswerModel):
    """Clock-anchored windows of one lane: when in their period its longest transfer takes longest."""

    lane: str
    period_ms: float
    phase_ms: float = Field(description="Moment of the period at which the transfer is asked for")
    transfer_ms: float = Field(description="Time of the transfer at the full rate")
    reserved_ms: float = Field(
        description="What the schedule reserves for it: its time at that phase, waiting included"
    )


class FreeLinks(AnswerModel):
    """The same devices with free links between sites, by known schedules and bounds alone (no search)."""

    value_ms: float
    lower_bound_ms: float
    cost: float | None = Field(
        description="value / value with free links - 1: what the network costs so far; null if those take no time"
    )


class ReplicaMessages(AnswerModel):
    """Replicas on a shared link: their messages of one stage pair sent as one, or apart, taking turns at full rate.

    The spec says which of the two was searched (`parallel.replica_messages`); the other is told by the same orders,
    known schedules and bounds alone.
    """

    searched: Literal["merged", "separate"] = Field(description="What the answer's schedule is for")
    merged_ms: float = Field(description="Best value known with merged messages")
    merged_lower_bound_ms: float = Field(description="No schedule with merged messages is better")
    separate_ms: float = Field(description="Best value known with messages apart")
    separate_lower_bound_ms: float = Field(description="No schedule with messages apart is better")
    better: Literal["merged", "separate", "equal"] = Field(description="Which of the two values is smaller")
    gain: float = Field(description="1 - smaller value / larger value")
    proved: bool = Field(description="Whether no schedule of the other kind can reach the smaller value")


class PlacementRow(AnswerModel):
    """A placement that was compared."""

    traversal: str
    value_ms: float | None
    lower_bound_ms: float | None
    infeasible: bool
    crossings: int = Field(description="Messages between sites per microbatch, activations and gradients together")


class Notice(AnswerModel):
    """Something about the input that may not be what was meant."""

    code: str
    pointer: str
    message: str


class Reason(AnswerModel):
    """Why no schedule exists: where, what it needs, what it has, what would do."""

    kind: str
    where: str
    needs: float | None
    has: float | None
    unit: str
    smallest_sufficient: float | None
    message: str
    facts: dict[str, Any]


class Explanation(AnswerModel):
    """Why the spec has no schedule."""

    summary: str
    reasons: list[Reason]


class Certificate(AnswerModel):
    """The lower bound as data, from which `crosspipe verify` derives it again."""

    bound_ms: float
    name: str
    where: str
    derived_ms: float | None = Field(
        description="What can be derived again: the bound, or less where that is the solver's word alone; null for none"
    )
    data: dict[str, Any] = Field(description="The argument of every placement; empty at detail `summary`")


class HistoryRow(AnswerModel):
    """State of the search at a moment."""

    seconds: float
    value_ms: float | None
    lower_bound_ms: float | None
    source: str


class Provenance(AnswerModel):
    """How the answer came about."""

    digest: str
    crosspipe_version: str
    ortools_version: str
    python_version: str
    seed: int
    workers: int
    deterministic: bool
    time_limit_s: float
    seconds: float
    schedule_from: str | None = Field(
        description="The family, the greedy or the method of the search that made the schedule"
    )
    solver: list[str] = Field(description="How each solving process ended, and the methods that set to work in it")
    history: list[HistoryRow]


class Answer(AnswerModel):
    """The answer to a spec."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    stop_reason: Literal["proved", "gap", "time_limit", "stopped", "cancelled", "memory_limit"]
    objective: ObjectiveValue
    second_terms: SecondTerms | None = Field(default=None, description="Null without a schedule")
    makespan_ms: float | None
    span_ms: float | None
    bubble_ratio: float | None
    tokens_per_second: float | None = Field(description="Null where the sequence length is unknown")
    best_family: str | None = Field(description="The best known schedule that fits")
    gain_over_best_family: float | None = Field(description="1 - value / value of the best family that fits")
    free_links: FreeLinks | None = Field(
        description="Null where no message passes between sites, or where there was no time to compare"
    )
    replica_messages: ReplicaMessages | None = Field(
        default=None,
        description="Null without replicas on a shared link, or where there was no time to compare",
    )
    traversal: str | None
    assignment: list[StageAssignment]
    recomputed_stages: list[int]
    microbatches: int = Field(default=1, description="Microbatches of one replica per step")
    replicas: int = Field(description="Pipeline copies modelled")
    replicas_merged: int = Field(description="Real copies that each modelled one stands for")
    devices: list[DeviceSchedule]
    transfers: list[LaneSchedule]
    extra_operations: list[ExtraSchedule]
    families: list[FamilyRow]
    placements: list[PlacementRow]
    cut: Cut | None = Field(default=None, description="Where the solver cuts the layers or orders the devices")
    hops: list[HopCost]
    crossings: int = Field(
        description="Messages between sites per microbatch, activations and gradients together; a message that takes "
        "several links counts once, a hand-over on one device not at all"
    )
    worst_phases: list[WorstPhaseRow] = Field(
        default_factory=list, description="Of each lane with clock-anchored windows; the schedule holds at every phase"
    )
    warnings: list[Notice]
    notes: list[str] = Field(description="What the search does not yet optimise of this spec, and what is assumed")
    explanation: Explanation | None = Field(description="Why there is no schedule; null where there is one")
    certificate: Certificate | None
    provenance: Provenance
