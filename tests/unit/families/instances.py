"""Problems built by hand, in any unit of time and memory: what a family or the greedy is tried on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from crosspipe.problem.links import Hop, Lane, Leg, Window
from crosspipe.problem.operations import NO_RESOURCE, Holdings, Kind, Operations, Precedences
from crosspipe.problem.problem import Device, Pool, Problem, StageInfo


@dataclass(frozen=True)
class Work:
    """One stage: times and memory of a microbatch of multiplier 1; `backward_input` None = none of it."""

    forward: int
    backward_input: int | None = None
    backward_weight: int | None = None
    backward: int | None = None
    activation: int = 0
    retained: int | None = None
    extra: int = 0


@dataclass(frozen=True)
class Message:
    """How boundary `boundary` is crossed in one direction; `lane` None = queues nowhere."""

    latency: int = 0
    transfer: int = 0
    lane: str | None = None


@dataclass(frozen=True)
class Extra:
    """An operation once per step."""

    name: str
    duration: int
    after: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    device: int | None = None
    lane: str | None = None


@dataclass
class _Rows:
    ops: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    arcs: list[tuple[int, int, int]] = field(default_factory=list)
    held: list[tuple[int, int, int, int]] = field(default_factory=list)
    number: dict[tuple[int, int, int, int], int] = field(default_factory=dict)

    def add(self, kind: Kind, stage: int, microbatch: int, replica: int, duration: int, resource: int) -> int:
        self.ops.append((kind, stage, microbatch, replica, duration, resource))
        self.number[kind, replica, stage, microbatch] = len(self.ops) - 1
        return len(self.ops) - 1


def build(
    works: list[Work],
    device_of_stage: list[int],
    multipliers: list[int] | int,
    *,
    activations: list[Message] | None = None,
    gradients: list[Message] | None = None,
    capacity: int | list[int | None] | None = None,
    base: int = 0,
    in_flight: int | None = None,
    windows: dict[str, tuple[Window, ...]] | None = None,
    shared: frozenset[str] = frozenset(),
    replicas: int = 1,
    fixed: bool = False,
    extras: tuple[Extra, ...] = (),
    traversal: str = "unidirectional",
) -> Problem:
    """Compile by hand; `shared` names the lanes that all replicas use together."""
    scale = [1] * multipliers if isinstance(multipliers, int) else multipliers
    devices_per_replica = max(device_of_stage) + 1
    stages, m = len(works), len(scale)
    free = [Message()] * (stages - 1)
    routes = {Kind.ACTIVATION: activations or free, Kind.GRADIENT: gradients or activations or free}
    names = sorted(
        {msg.lane for side in routes.values() for msg in side if msg.lane} | {e.lane for e in extras if e.lane}
    )
    lanes: list[Lane] = []
    lane_of: dict[tuple[str, int], int] = {}
    for name in names:
        for q in range(1 if name in shared else replicas):
            owner = None if name in shared else q
            lanes.append(Lane(name, name, owner, 1, (windows or {}).get(name, ())))
            for user in range(replicas) if name in shared else (q,):
                lane_of[name, user] = replicas * devices_per_replica + len(lanes) - 1

    rows = _Rows()
    pools: list[Pool] = []
    caps = capacity if isinstance(capacity, list) else [capacity] * devices_per_replica
    for d in range(replicas * devices_per_replica):
        pools.append(Pool("memory", "bytes", d, caps[d % devices_per_replica], base))
    flight: dict[tuple[int, int], int] = {}
    if in_flight is not None:
        for q in range(replicas):
            for s in range(stages):
                flight[q, s] = len(pools)
                where = q * devices_per_replica + device_of_stage[s]
                pools.append(Pool(f"in flight on stage {s}", "microbatches", where, in_flight))

    for q in range(replicas):
        for s, work in enumerate(works):
            d = q * devices_per_replica + device_of_stage[s]
            for j in range(m):
                f = rows.add(Kind.F, s, j, q, work.forward * scale[j], d)
                a = work.activation * scale[j]
                kept = a if work.retained is None else work.retained * scale[j]
                last = f
                if work.backward is not None:
                    last = rows.add(Kind.BW, s, j, q, work.backward * scale[j], d)
                    rows.arcs.append((f, last, 0))
                    rows.held.append((d, f, last, a))
                    rows.held.append((d, last, last, work.extra * scale[j]))
                elif work.backward_input is not None:
                    b = last = rows.add(Kind.B, s, j, q, work.backward_input * scale[j], d)
                    rows.arcs.append((f, b, 0))
                    if work.backward_weight is not None:
                        last = rows.add(Kind.W, s, j, q, work.backward_weight * scale[j], d)
                        rows.arcs.append((b, last, 0))
                        rows.held.append((d, f, b, a - kept))
                        rows.held.append((d, f, last, kept))
                    else:
                        rows.held.append((d, f, b, a))
                    rows.held.append((d, b, last, work.extra * scale[j]))
                else:
                    rows.held.append((d, f, f, a))
                if flight:
                    rows.held.append((flight[q, s], f, last, 1))

    def backward(q: int, s: int, j: int) -> int | None:
        return rows.number.get((Kind.BW, q, s, j), rows.number.get((Kind.B, q, s, j)))

    hops: list[Hop] = []
    for kind, side in routes.items():
        for s, msg in enumerate(side):
            ends = (s, s + 1) if kind == Kind.ACTIVATION else (s + 1, s)
            local = device_of_stage[s] == device_of_stage[s + 1]
            used = () if local or not msg.lane else tuple(lane_of[msg.lane, q] for q in range(replicas))
            hops.append(
                Hop(
                    s,
                    kind,
                    device_of_stage[ends[0]],
                    device_of_stage[ends[1]],
                    (Leg(msg.lane or "", used, msg.transfer, msg.latency),),
                )
            )
            for q in range(replicas):
                for j in range(m):
                    if kind == Kind.ACTIVATION:
                        x, y = rows.number[Kind.F, q, s, j], rows.number[Kind.F, q, s + 1, j]
                    else:
                        found = backward(q, s + 1, j), backward(q, s, j)
                        if found[0] is None or found[1] is None:
                            continue
                        x, y = found[0], found[1]
                    lag = 0 if local else msg.latency
                    if used and msg.transfer:
                        t = rows.add(kind, s, j, q, msg.transfer * scale[j], used[q])
                        rows.arcs.append((x, t, 0))
                        rows.arcs.append((t, y, lag))
                    else:
                        rows.arcs.append((x, y, lag))

    named: list[tuple[str, int]] = []
    work_kinds = (Kind.B, Kind.W, Kind.BW)
    for extra in extras:
        resource = NO_RESOURCE
        if extra.device is not None:
            resource = extra.device
        elif extra.lane is not None:
            resource = lane_of[extra.lane, 0]
        known = dict(rows.number)
        e = rows.add(Kind.EXTRA, -1, 0, 0, extra.duration, resource)
        named.append((extra.name, e))
        for (kind, _, s, _), x in known.items():
            if kind in work_kinds and s in extra.after:
                rows.arcs.append((x, e, 0))
            if kind == Kind.F and s in extra.before:
                rows.arcs.append((e, x, 0))

    table = np.array(rows.ops, dtype=np.int64).reshape(-1, 6)
    arcs = np.array(rows.arcs, dtype=np.int64).reshape(-1, 3)
    held = np.array([h for h in rows.held if h[3] > 0], dtype=np.int64).reshape(-1, 4)
    chains = [
        np.array([rows.number[kind, q, s, j] for j in range(m)], dtype=np.int64)
        for kind in Kind
        if kind != Kind.EXTRA
        for q in range(replicas)
        for s in range(stages)
        if (kind, q, s, 0) in rows.number
    ]
    where = [tuple(s for s in range(stages) if device_of_stage[s] == d) for d in range(devices_per_replica)]
    return Problem(
        digest="by hand",
        traversal=traversal,
        stages=tuple(StageInfo(None, d) for d in device_of_stage),
        multipliers=tuple(str(x) for x in scale),
        replicas=replicas,
        merged_replicas=1,
        devices=tuple(
            Device(f"site/{d}", "site", q, where[d]) for q in range(replicas) for d in range(devices_per_replica)
        ),
        lanes=tuple(lanes),
        operations=Operations(*(table[:, i].copy() for i in range(6)), np.zeros(len(table), dtype=np.int64)),
        precedences=Precedences(*(arcs[:, i].copy() for i in range(3))),
        pools=tuple(pools),
        holdings=Holdings(*(held[:, i].copy() for i in range(4))),
        hops=tuple(hops),
        chains=tuple(chains),
        chains_required=fixed,
        extras=tuple(named),
    )


def uniform(
    p: int,
    m: int,
    *,
    forward: int = 1,
    backward_input: int = 1,
    backward_weight: int = 1,
    latency: int = 0,
    capacity: int | None = None,
    activation: int = 2,
    retained: int = 1,
    slow: dict[int, Message] | None = None,
    chunks: int = 1,
    wave: bool = False,
) -> Problem:
    """Equal stages on p devices; `slow` replaces the hop of some boundaries (lanes named `..out`, back is `..back`)."""
    work = Work(forward, backward_input, backward_weight, activation=activation, retained=retained)
    order = []
    for c in range(chunks):
        order += list(range(p))[::-1] if wave and c % 2 else list(range(p))
    out = [Message(latency)] * (p * chunks - 1)
    back = list(out)
    for s, msg in (slow or {}).items():
        out[s] = msg
        back[s] = Message(msg.latency, msg.transfer, msg.lane and msg.lane.replace("out", "back"))
    return build(
        [work] * (p * chunks),
        order,
        m,
        activations=out,
        gradients=back,
        capacity=capacity,
        traversal="unidirectional" if chunks == 1 else "wave" if wave else "loop",
    )
