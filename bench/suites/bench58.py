"""58 instances with slow hops and tight memory, with the best value and the best bound known before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.data import read_json
from bench.pipelines import SlowHop, Work, pipeline_spec
from bench.quantities import BYTES_PER_MB, NS_PER_MS
from bench.row import Goal, Reference, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

LIMIT_S = 60.0

TRAVERSALS = {"ud": "unidirectional", "wave": "wave", "loop": "loop"}

OPEN_GAP = 0.0075
"""Gap asked of the unidirectional instances whose value and bound known before lie further apart."""

QUICK = {
    "ud_p8_m24_20-21-15_c3_cap1.0_",
    "ud_p8_m16_40-42-30_c0_cap1_1:20,20_3:20,20_5:20,20",
    "wave_p8_m16_20-21-15_c0_cap1_3:80,10",
    "loop_p4_m16_20-21-15_c0_cap1.0_1:20,20_wrap:20,20",
}


def rows() -> list[Row]:
    """Build the rows, one per instance; a unit of time is 1 ms, one of memory 1 MB."""
    return [
        Row(
            suite="bench58",
            name=entry["name"],
            spec=spec_of(entry),
            objective="makespan",
            limit_s=LIMIT_S,
            quick=entry["name"] in QUICK,
            reference=_reference(entry),
            goal=Goal(gap=OPEN_GAP, gap_s=LIMIT_S) if _left_open(entry) else Goal(),
        )
        for entry in read_json("bench/instances.json")
    ]


def spec_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Write an entry as a spec.

    Raises
    ------
    ValueError
        If two messages between the same devices take different times, which one link cannot say.
    """
    given = entry["instance"]
    memory = given["memory"]
    stages = [
        Work(
            forward * NS_PER_MS,
            backward * NS_PER_MS,
            weight * NS_PER_MS,
            memory["acquire_at_F_start"] * BYTES_PER_MB,
            memory["release_at_W_end"] * BYTES_PER_MB,
        )
        for forward, backward, weight in zip(given["F"], given["B"], given["W"], strict=True)
    ]
    between = _hops(given)
    latency = min((latency for latency, transfer in between.values() if not transfer), default=0)
    return pipeline_spec(
        entry["name"],
        stages,
        devices=given["devices"],
        microbatches=given["microbatches"],
        memory_bytes=memory["capacity"] * BYTES_PER_MB,
        latency_ns=latency * NS_PER_MS,
        slow_hops=[
            SlowHop(a, b, transfer * NS_PER_MS, delay * NS_PER_MS)
            for (a, b), (delay, transfer) in between.items()
            if transfer or delay != latency
        ],
        traversal=TRAVERSALS[entry["placement"]],
    )


def _hops(given: Mapping[str, Any]) -> dict[tuple[int, int], tuple[int, int]]:
    """Find latency and link time of each directed pair of devices that exchanges messages."""
    device = given["device_of_stage"]
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for transfer in given["transfers"]:
        pair = (device[transfer["from_stage"]], device[transfer["to_stage"]])
        times = (transfer["latency"], transfer["link_time"])
        if pair[0] == pair[1]:
            if times != (0, 0):
                raise ValueError("a hand-over on one device takes no time")
            continue
        if found.setdefault(pair, times) != times or transfer["link"] not in (None, list(pair)):
            raise ValueError(f"messages from device {pair[0]} to {pair[1]} do not all use one link")
    return found


def _reference(entry: Mapping[str, Any]) -> Reference:
    best, bound = entry["best"] * NS_PER_MS, entry["bound"] * NS_PER_MS
    return Reference(status="optimal" if best == bound else None, value_ns=best, bound_ns=bound)


def _left_open(entry: Mapping[str, Any]) -> bool:
    return bool(entry["placement"] == "ud" and entry["gap_pct"] > 100 * OPEN_GAP)
