"""Golden cases turned into specs and schedules, one to one, and back.

A case counts in units without a name: here 1 ms and 1 MB, in the `huge_units` cases 1 ns and 1 MB. Every device is a
site of its own, so device `d0` becomes `d0/0`; every directed pair of devices that exchanges messages becomes one link
in the group named after its channel, 1 MB taking one unit of time.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from crosspipe.checker.placed import Placed
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.golden.cases import Case, Rows

Number = int | float

TRANSFER = {"TF": Kind.ACTIVATION, "TB": Kind.GRADIENT}
NS_PER_MS = 10**6


def unit_ns(case: Mapping[str, Any]) -> int:
    """Give the length of the case's unit of time."""
    return 1 if "huge_units" in case["tags"] else NS_PER_MS


def value_ns(case: Mapping[str, Any], value: int) -> int:
    """Give a time of the case in nanoseconds."""
    return value * unit_ns(case)


def case_to_spec(case: Case) -> dict[str, Any]:
    """Map a case onto the spec that says the same."""
    return _assignment_spec(case) if case["kind"] == "stage_assignment" else _schedule_spec(case)


def _schedule_spec(case: Case) -> dict[str, Any]:
    replicas = case.get("replicas", 1)
    spec: dict[str, Any] = {
        "name": case["id"],
        "model": {"stages": [_stage(case, index) for index in range(len(case["stages"]))]},
        "training": {"microbatches": _microbatches(case["microbatches"])},
        "parallel": {"tensor": 1, "pipeline": len(case["devices"]), "data": replicas, "replica_messages": "separate"},
        "sites": {device["name"]: _site(device) for device in case["devices"]},
        "links": _links(case),
        "placement": {"map": [f"{stage['device']}/0" for stage in case["stages"]]},
    }
    if extras := case.get("extra_ops"):
        spec["extra_operations"] = [_extra(case, extra) for extra in extras]
    return spec


def _assignment_spec(case: Case) -> dict[str, Any]:
    names = [device["name"] for device in case["devices"]]
    hops = case.get("hops") or [{"transfer": 0, "latency": 0}] * (len(names) - 1)
    joined = list(zip(names, names[1:], hops, strict=False))
    if case["device_order"] == "free":
        assert not case.get("hops"), "hops are by position, links by device: with a free order they would differ"
        joined = [(a, b, hops[0]) for i, a in enumerate(names) for b in names[i + 1 :]]
    assert all(hop["transfer"] == 0 for hop in hops), "no assignment case has a transfer time"
    return {
        "name": case["id"],
        "model": {"layers": [_layer(case, layer) for layer in case["layers"]]},
        "training": {
            "microbatches": _microbatches(case.get("microbatches") or {"count": 1}),
            "split_backward": case["backward"] == "split",
        },
        "parallel": {"tensor": 1, "pipeline": len(names), "data": 1},
        "sites": {device["name"]: _site(device) for device in case["devices"]},
        "links": [{"between": [a, b], "one_way_latency_ms": _ms(case, hop["latency"])} for a, b, hop in joined],
    }


def _ms(case: Mapping[str, Any], value: int) -> Number:
    """Write a time in ms; the float's shortest decimal form is the exact value, which is how specs are read."""
    exact = Decimal(value) * unit_ns(case) / NS_PER_MS
    written = int(exact) if exact == exact.to_integral_value() else float(exact)
    assert Decimal(repr(written)) == exact
    return written


def _gb(megabytes: int) -> Number:
    whole, rest = divmod(megabytes, 1000)
    return whole if rest == 0 else float(Decimal(megabytes) / 1000)


def _microbatches(given: Mapping[str, Any]) -> int | dict[str, Any]:
    if "multipliers" in given:
        return {"multipliers": given["multipliers"], "order": given["order"]}
    count: int = given["count"]
    return count


def _site(device: Mapping[str, Any]) -> dict[str, Any]:
    memory = device["memory"]
    site: dict[str, Any] = {"devices": 1, "memory_gb": None if memory is None else _gb(memory)}
    if "time_factor" in device:
        site["time_factor"] = device["time_factor"]
    return site


def _stage(case: Case, index: int) -> dict[str, Any]:
    given = case["stages"][index]
    stage: dict[str, Any] = {"forward_ms": _ms(case, given["forward"]), "activation_mb": given["activation"]}
    for ours, theirs in (
        ("backward_ms", "backward"),
        ("backward_input_ms", "backward_input"),
        ("backward_weight_ms", "backward_weight"),
        ("recompute_ms", "recompute_time"),
    ):
        if given.get(theirs) is not None:
            stage[ours] = _ms(case, given[theirs])
    if "backward_ms" not in stage and "backward_input_ms" not in stage:
        stage["frozen"] = True
    if given.get("released_by_backward_input"):
        stage["retained_mb"] = given["activation"] - given["released_by_backward_input"]
    if given.get("taken_by_backward_input"):
        stage["backward_extra_mb"] = given["taken_by_backward_input"]
    if given.get("static"):
        stage["static_mb"] = given["static"]
    if option := given.get("recompute_option"):
        stage["recompute_option"] = {
            "activation_mb": option["activation"],
            "recompute_ms": _ms(case, option["recompute_time"]),
            "backward_extra_mb": option.get("taken_by_backward_input", 0),
        }
    transfers = {(hop["from_stage"], hop["to_stage"]): hop["transfer"] for hop in case["hops"]}
    stage["boundary_mb"] = transfers.get((index, index + 1), 0)
    stage["gradient_mb"] = transfers.get((index + 1, index), 0)
    return stage


def _layer(case: Case, given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": given["name"],
        "forward_ms": _ms(case, given["forward"]),
        "backward_input_ms": _ms(case, given["backward_input"]),
        "backward_weight_ms": _ms(case, given["backward_weight"]),
        "activation_mb": given.get("activation", 0),
        "static_mb": given.get("static", 0),
    }


def _links(case: Case) -> list[dict[str, Any]]:
    channels = {channel["name"]: channel for channel in case["channels"]}
    links: dict[tuple[str, str], dict[str, Any]] = {}
    for hop in case["hops"]:
        sender, receiver = (case["stages"][hop[end]]["device"] for end in ("from_stage", "to_stage"))
        channel = channels[hop["channel"]]
        link = {
            "from": sender,
            "to": receiver,
            "lane": hop["lane"],
            "one_way_latency_ms": _ms(case, hop["latency"]),
            "bandwidth_gbps": 8 * NS_PER_MS // unit_ns(case),
            **_channel(case, channel),
        }
        assert links.setdefault((sender, receiver), link) == link, "one pair of devices, two unlike links"
    used = {link["group"] for link in links.values()}
    unused = [_channel(case, channel) for name, channel in channels.items() if name not in used]
    return [*links.values(), *unused]


def _channel(case: Case, channel: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "group": channel["name"],
        "duplex": channel["duplex"],
        "per_replica": not channel.get("shared_by_replicas", False),
    }
    if every := channel.get("closed_every"):
        fields["period_ms"] = _ms(case, every["period"])
        fields["closed_ms"] = [[_ms(case, start), _ms(case, end)] for start, end in every["windows"]]
    if closed := channel.get("closed"):
        fields["closed_ms"] = [[_ms(case, start), None if end is None else _ms(case, end)] for start, end in closed]
    return fields


def _extra(case: Case, given: Mapping[str, Any]) -> dict[str, Any]:
    extra: dict[str, Any] = {"name": given["name"], "duration_ms": _ms(case, given["duration"])}
    if given.get("after_stages"):
        extra["after"] = given["after_stages"]
    if given.get("before_stages"):
        extra["before"] = given["before_stages"]
    if given.get("device"):
        extra["device"] = f"{given['device']}/0"
    elif given.get("channel"):
        channel = next(channel for channel in case["channels"] if channel["name"] == given["channel"])
        half = channel["duplex"] == "half"
        extra["lane"] = channel["name"] if half else f"{channel['name']}/{given.get('lane', 'out')}"
    return extra


def case_schedule(case: Case, rows: Rows) -> tuple[Placed, ...]:
    """Turn witness rows into placed operations, in nanoseconds."""
    return tuple(_placed(case, row) for row in rows)


def _placed(case: Case, row: list[Any]) -> Placed:
    kind, replica, stage, microbatch, start = row
    start_ns = value_ns(case, start)
    if kind == "X":
        return Placed(Kind.EXTRA, -1, 0, 0, start_ns, name=stage)
    combined = kind == "B" and 0 <= stage < len(case["stages"]) and case["stages"][stage].get("backward") is not None
    found = TRANSFER.get(kind) if kind in TRANSFER else Kind["BW" if combined else kind]
    assert found is not None
    return Placed(found, stage, microbatch, replica, start_ns)


def case_document(case: Case, rows: Rows, recomputed: Iterable[int] = ()) -> dict[str, Any]:
    """Turn witness rows into a schedule document in row form."""
    operations: list[list[Any]] = []
    for row in rows:
        placed = _placed(case, row)
        start_ms = _ms(case, row[4])
        if placed.kind is Kind.EXTRA:
            operations.append(["extra", placed.name, start_ms])
        else:
            name = placed.kind.name.lower() if placed.kind.is_transfer else placed.kind.name
            operations.append([name, placed.stage, placed.microbatch, placed.replica, start_ms])
    return {"operations": operations, "recomputed_stages": sorted(recomputed)}


def witness_form(case: Case, placed: Iterable[Placed]) -> Rows:
    """Turn placed operations back into witness rows, times in the case's unit (a fraction where one is left)."""
    names = {Kind.ACTIVATION: "TF", Kind.GRADIENT: "TB", Kind.BW: "B", Kind.EXTRA: "X"}
    rows: Rows = []
    for row in placed:
        exact = Fraction(row.start_ns, unit_ns(case))
        start: int | Fraction = int(exact) if exact.denominator == 1 else exact
        stage = row.name if row.kind is Kind.EXTRA else row.stage
        rows.append([names.get(row.kind, row.kind.name), row.replica, stage, row.microbatch, start])
    return rows
