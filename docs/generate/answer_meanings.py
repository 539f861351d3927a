"""Meanings of answer fields that the models leave to their names; a description in the model takes its place."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OBJECTIVE_VALUE = "Its value of the objective; null where there is none"

MEANINGS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Answer": {
            "status": "What is known; see the table above",
            "stop_reason": "Why the search ended; see the table above",
            "objective": "What was made small, the value and what is proved of it",
            "makespan_ms": "Last end of any operation; null without a schedule",
            "span_ms": "Longest time any device is held; null without a schedule",
            "bubble_ratio": "Share of device time without compute, by the objective; null without a schedule",
            "traversal": "The placement: `unidirectional`, `loop`, `wave` or `map`; null without a schedule",
            "assignment": "Where each stage lives, in stage order",
            "recomputed_stages": "Stages that take their recompute option",
            "devices": "What each device does; empty without a schedule",
            "transfers": "What each lane carries; empty without a schedule",
            "extra_operations": "When each extra operation runs; empty without a schedule",
            "families": "Every known schedule and the greedy, for each placement",
            "placements": "Every placement that was compared",
            "hops": "What a message costs over each boundary, in each direction",
            "warnings": "Numbers of the spec that look like a known mistake",
            "certificate": "The lower bound and its argument; null where none is known",
            "provenance": "How the answer came about",
        },
        "WorstPhaseRow": {"lane": "`<link>/out`, `<link>/back` or `<link>`", "period_ms": "Period of the windows"},
        "ObjectiveValue": {"name": "What was made small"},
        "FreeLinks": {
            "value_ms": "Best value known with free links",
            "lower_bound_ms": "No schedule is better with free links",
        },
        "StageAssignment": {
            "stage": "Number, from 0",
            "layers": "The layers it holds, in words; null where the spec does not say",
            "device": "`site/0` and so on",
            "site": "The site of the device",
        },
        "Cut": {
            "layers_per_stage": "Items of each stage in pipeline order, as `layers_per_stage` of a spec takes them",
            "rules": "What rules that others use would cut",
        },
        "OtherCut": {
            "layers_per_stage": "Its items of each stage",
            "devices": "The device of each stage",
        },
        "RuleCutRow": {"rule": "The rule, in words"},
        "DeviceSchedule": {
            "device": "`site/0` and so on",
            "site": "The site of the device",
            "replica": "The modelled pipeline copy, from 0",
            "busy_ms": "Compute time",
            "peak_memory_mb": "Most memory held, static memory included",
            "peak_at_ms": "When that is first held",
        },
        "ComputeColumns": {
            "stage": "The stage of each operation",
            "microbatch": "Its microbatch, from 0",
            "start_ms": "Its start",
            "end_ms": "Its end",
        },
        "MemoryCurve": {"at_ms": "When the level changes", "memory_mb": "Memory held from then on"},
        "LaneSchedule": {
            "lane": "`channel/out`, `channel/back`, or `channel` where both directions share it",
            "busy_ms": "Time in which it carries something",
        },
        "TransferColumns": {
            "microbatch": "The microbatch of each message; 0 for an extra operation",
            "replica": "Its replica, from 0",
            "start_ms": "When it starts to occupy the lane",
            "end_ms": "When it leaves the lane",
        },
        "ExtraSchedule": {
            "name": "As in the spec",
            "start_ms": "Its start",
            "end_ms": "Its end",
            "device": "The device it occupies; null for none",
            "lane": "The lane it occupies; null for none",
        },
        "FamilyRow": {
            "name": "The family, or `greedy`",
            "traversal": "The placement it was put to",
            "fits": "Whether it applies and keeps every limit",
            "value_ms": OBJECTIVE_VALUE,
            "peak_memory_mb": "Most memory on any device, also where that is too much; null without an order",
            "reason": "Why it does not fit; null where it does",
        },
        "PlacementRow": {
            "traversal": "The placement",
            "value_ms": OBJECTIVE_VALUE,
            "lower_bound_ms": "No schedule on it is better; null where none is known",
            "infeasible": "Whether it is proved to have no schedule",
        },
        "HopCost": {
            "kind": "Which way it goes: an activation up, a gradient back",
            "transfer_ms": "Time on the lanes of all links on the way, for a microbatch of multiplier 1",
            "latency_ms": "One-way latency of all links on the way",
        },
        "LegCost": {
            "link": "Name of the channel",
            "transfer_ms": "Time on its lane, for a microbatch of multiplier 1",
            "latency_ms": "One-way latency after that",
        },
        "Notice": {
            "code": "Names the trap; see the [warnings](spec.md#warnings)",
            "pointer": "JSON Pointer to the field of the spec",
            "message": "What was given, what it would mean, and what was perhaps meant",
        },
        "Explanation": {
            "summary": "The reasons in one sentence",
            "reasons": "Each condition that is not met; empty where the solver alone has proved it",
        },
        "Reason": {
            "kind": "`memory`, `in_flight`, `link` or `deadline`",
            "where": "The devices, the link, or what has the deadline",
            "needs": "What any schedule needs there, in `unit`; null where it is no number",
            "has": "What there is",
            "unit": "`bytes`, `microbatches`, `ns`, or empty",
            "smallest_sufficient": "The least value that meets the condition",
            "message": "The whole in words",
            "facts": "Numbers and names behind the message",
        },
        "Certificate": {
            "bound_ms": "The lower bound",
            "name": "Its argument",
            "where": "The device, lane or chain it comes from",
        },
        "Provenance": {
            "digest": "Names the spec, however it was written",
            "crosspipe_version": "Version of CrossPipe",
            "ortools_version": "Version of OR-Tools",
            "python_version": "Version of Python",
            "seed": "As asked for",
            "workers": "Threads of the solving process",
            "deterministic": "As asked for",
            "time_limit_s": "As asked for",
            "seconds": "From the validated spec to the end of the search",
            "history": "Every better value and bound, in order",
        },
        "HistoryRow": {
            "seconds": "Since the validated spec",
            "value_ms": "Best value by then; null before the first",
            "lower_bound_ms": "Best bound by then; null before the first",
            "source": "The method that found it",
        },
        "CheckResult": {
            "ok": "Whether every rule is kept",
            "makespan_ms": "Last end of any operation; null where one is missing",
            "span_ms": "Longest time any device is held; null where an operation is missing",
            "violations": "Every broken rule",
        },
        "CheckedViolation": {
            "kind": "The rule; see [semantics](semantics.md#what-the-checker-reports)",
            "operations": "The operations at fault, the earlier one first",
            "where": "Device or lane; null where the rule concerns neither",
            "at_ms": "When; null where no moment can be named",
            "amount": "By how much, in ns, bytes or microbatches; null where there is no amount",
            "message": "The same in words",
        },
    }
)
