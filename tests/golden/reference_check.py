"""The replay checker that came with the golden cases: reads the case itself, shares nothing with the library.

`check(case, schedule) -> (errors, makespan, span)`. A schedule is a list of [kind, replica, stage or name, microbatch,
start] with kinds F, B, W, TF (activation s -> s+1), TB (gradient s+1 -> s) and X (extra operation). Only its layout
was changed, not its logic; `tests/data/golden/FORMAT.md` describes the format.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

FOREVER = 10**30


def check(c: dict[str, Any], sch: list[list[Any]]) -> tuple[list[str], int | None, int | None]:
    err: list[str] = []
    st = c["stages"]
    mb = c["microbatches"]
    k = mb.get("multipliers", [1] * mb.get("count", 0))
    R = c.get("replicas", 1)  # noqa: N806  # the original's name
    D: dict[tuple[Any, ...], int] = {}  # noqa: N806  # the original's name
    T = {(a, q, s, j): t for a, q, s, j, t in sch}  # noqa: N806  # the original's name
    if len(T) != len(sch):
        err.append("duplicate op")
    hops = {(h["from_stage"], h["to_stage"]): h for h in c.get("hops", [])}
    chs = {x["name"]: x for x in c.get("channels", [])}
    want = set()
    busy: dict[tuple[Any, ...], list[tuple[int, int, tuple[Any, ...]]]] = {}

    def comb(s: int) -> bool:
        return st[s].get("backward") is not None

    def has_b(s: int) -> bool:
        return comb(s) or st[s].get("backward_input") is not None

    def has_w(s: int) -> bool:
        return not comb(s) and st[s].get("backward_weight") is not None

    def put(res: tuple[Any, ...] | None, key: tuple[Any, ...], d: int) -> None:
        D[key] = d
        want.add(key)
        if key not in T:
            err.append(f"missing {key}")
            return
        if T[key] < 0:
            err.append("negative start")
        if res is not None:
            busy.setdefault(res, []).append((T[key], T[key] + d, key))

    def lane(h: dict[str, Any], q: int) -> tuple[Any, ...]:
        x = chs[h["channel"]]
        full = x.get("duplex", "full") == "full"
        return ("link", h["channel"], h["lane"] if full else "*", "all" if x.get("shared_by_replicas") else q)

    for q in range(R):
        for j, u in enumerate(k):
            for s, x in enumerate(st):
                d = ("device", x["device"], q)
                put(d, ("F", q, s, j), u * x["forward"])
                if has_b(s):
                    backward = x["backward"] if comb(s) else x["backward_input"]
                    put(d, ("B", q, s, j), u * (backward + (x.get("recompute_time") or 0)))
                if has_w(s):
                    put(d, ("W", q, s, j), u * x["backward_weight"])
                if s + 1 < len(st) and x["device"] != st[s + 1]["device"]:
                    h = hops[s, s + 1]
                    if h["transfer"]:
                        put(lane(h, q), ("TF", q, s, j), u * h["transfer"])
                    if has_b(s):
                        h = hops[s + 1, s]
                        if h["transfer"]:
                            put(lane(h, q), ("TB", q, s, j), u * h["transfer"])
    for e in c.get("extra_ops", []):
        r = None
        if e.get("device"):
            r = ("device", e["device"], 0)
        elif e.get("channel"):
            r = lane({"channel": e["channel"], "lane": e.get("lane", "out")}, 0)
        put(r, ("X", 0, e["name"], 0), e["duration"])
    if set(T) - want:
        err.append(f"unknown ops {sorted(set(T) - want)[:3]}")
    if err:
        return err, None, None

    def end(key: tuple[Any, ...]) -> int:
        return T[key] + D[key]

    for q in range(R):
        for j in range(len(k)):
            for s in range(len(st)):
                if s:
                    same = st[s]["device"] == st[s - 1]["device"]
                    if same:
                        r = end(("F", q, s - 1, j))
                    else:
                        h = hops[s - 1, s]
                        if h["transfer"]:
                            if T["TF", q, s - 1, j] < end(("F", q, s - 1, j)):
                                err.append(f"activation sent early {s, j}")
                            r = end(("TF", q, s - 1, j)) + h["latency"]
                        else:
                            r = end(("F", q, s - 1, j)) + h["latency"]
                    if T["F", q, s, j] < r:
                        err.append(f"F early {s, j}")
                if has_b(s):
                    if T["B", q, s, j] < end(("F", q, s, j)):
                        err.append(f"B before F {s, j}")
                    if s + 1 < len(st):
                        if st[s]["device"] == st[s + 1]["device"]:
                            r = end(("B", q, s + 1, j))
                        else:
                            h = hops[s + 1, s]
                            if h["transfer"]:
                                if T["TB", q, s, j] < end(("B", q, s + 1, j)):
                                    err.append(f"gradient sent early {s, j}")
                                r = end(("TB", q, s, j)) + h["latency"]
                            else:
                                r = end(("B", q, s + 1, j)) + h["latency"]
                        if T["B", q, s, j] < r:
                            err.append(f"B early {s, j}")
                if has_w(s) and T["W", q, s, j] < end(("B", q, s, j)):
                    err.append(f"W early {s, j}")
    for e in c.get("extra_ops", []):
        for s in e.get("after_stages", []):
            for q in range(R):
                for j in range(len(k)):
                    if T["X", 0, e["name"], 0] < max(end((a, q, s, j)) for a in "FBW" if (a, q, s, j) in T):
                        err.append("extra op early")
        for s in e.get("before_stages", []):
            for q in range(R):
                for j in range(len(k)):
                    if T["F", q, s, j] < end(("X", 0, e["name"], 0)):
                        err.append("extra op late")
    for r, v in busy.items():
        v.sort()
        for a, b in pairwise(v):
            if b[0] < a[1]:
                err.append(f"overlap on {r}: {a[2]} {b[2]}")
        if r[0] == "link":
            x = chs[r[1]]
            for a, b, key in v:
                for w0, w1 in x.get("closed") or []:
                    if a < (w1 if w1 is not None else FOREVER) and w0 < b:
                        err.append(f"{key} in closed window")
                ce = x.get("closed_every")
                if ce:
                    P = ce["period"]  # noqa: N806  # the original's name
                    n = a // P
                    while n * P < b:
                        for w0, w1 in ce["windows"]:
                            if a < n * P + w1 and n * P + w0 < b:
                                err.append(f"{key} in periodic window")
                        n += 1
    if mb.get("order") == "fixed":
        g: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        for (a, q, s, j), t in T.items():
            if a != "X":
                g.setdefault((a, q, s), []).append((j, t))
        for kk, v in g.items():
            v.sort()
            if any(x[1] > y[1] for x, y in pairwise(v)):
                err.append(f"order {kk}")
    for q in range(R):
        for d in c["devices"]:
            if d["memory"] is None:
                continue
            ev = []
            base = 0
            for s, x in enumerate(st):
                if x["device"] != d["name"]:
                    continue
                base += x.get("static") or 0
                for j, u in enumerate(k):
                    rb = (x.get("released_by_backward_input") or 0) * u
                    a = (x.get("activation") or 0) * u
                    tb = (x.get("taken_by_backward_input") or 0) * u
                    last = "W" if has_w(s) else ("B" if has_b(s) else "F")
                    fin = end((last, q, s, j))
                    ev.append((T["F", q, s, j], 1, a))
                    if has_b(s):
                        ev.append((end(("B", q, s, j)), 0, -rb))
                        ev.append((T["B", q, s, j], 1, tb))
                        ev.append((fin, 0, -(a - rb) - tb))
                    else:
                        ev.append((fin, 0, -a))
            lvl = base
            if lvl > d["memory"]:
                err.append(f"static over memory {d['name']}")
            for t, _, a in sorted(ev):
                lvl += a
                if lvl > d["memory"]:
                    err.append(f"memory {d['name']} at {t}: {lvl}")
                    break
    mk = max(end(x) for x in T)
    sp = 0
    for r, v in busy.items():
        if r[0] == "device":
            w = [z for z in v if z[2][0] != "X"]
            if w:
                sp = max(sp, max(z[1] for z in w) - min(z[0] for z in w))
    return err, mk, sp
