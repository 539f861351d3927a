from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.building import STAGE, problem

from crosspipe.errors import DeadlockError, NeverOpensError
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.joint import join_lanes
from crosspipe.schedule.measure import bubble_ratio, busy_ns, fits, makespan_ns, peaks, span_ns
from crosspipe.schedule.orders import Orders
from crosspipe.schedule.replay import replay
from crosspipe.schedule.timed import timed

MS = 10**6


def in_order(compiled: Problem, *texts: str) -> list[np.ndarray]:
    """Device orders written as `F0 F1 B0 ...`, one text per device, stage = device."""
    return [
        np.array([compiled.number(Kind[t[:-1]], stage, int(t[-1])) for t in text.split()], dtype=np.int64)
        for stage, text in enumerate(texts)
    ]


def test_everything_starts_as_early_as_orders_and_messages_allow() -> None:
    compiled = problem(2, 2)
    orders = join_lanes(compiled, in_order(compiled, "F0 F1 B0 W0 B1 W1", "F0 B0 W0 F1 B1 W1"))
    schedule = replay(compiled, orders)
    assert makespan_ns(schedule) == 8 * MS
    assert span_ns(compiled, schedule) == 8 * MS
    assert busy_ns(compiled, schedule) == [6 * MS, 6 * MS]
    assert bubble_ratio(compiled, schedule, Objective.MAKESPAN) == pytest.approx(1 - 12 / 16)


def test_orders_that_wait_in_a_circle_are_a_deadlock_that_names_it() -> None:
    compiled = problem(2, 2)
    circle = in_order(compiled, "F0 B0 W0 F1 B1 W1", "F1 B1 W1 F0 B0 W0")
    with pytest.raises(DeadlockError):
        join_lanes(compiled, circle)
    with pytest.raises(DeadlockError, match="wait for each other") as caught:
        replay(compiled, Orders(tuple(circle)))
    cycle = caught.value.cycle
    arcs = set(zip(compiled.precedences.before.tolist(), compiled.precedences.after.tolist(), strict=True))
    for sequence in circle:
        arcs |= set(zip(sequence[:-1].tolist(), sequence[1:].tolist(), strict=True))
    assert len(cycle) >= 2
    assert all(pair in arcs for pair in zip(cycle, [*cycle[1:], cycle[0]], strict=True))


def test_an_order_that_misses_or_repeats_is_refused() -> None:
    compiled = problem(1, 2)
    with pytest.raises(ValueError, match="does not hold exactly its operations"):
        replay(compiled, Orders((np.array([0, 0, 1, 2, 3, 4]),)))


def test_a_lane_that_never_opens_again_is_said_so() -> None:
    sites = {"a": {"devices": 1}, "b": {"devices": 1}}
    links = [{"between": ["a", "b"], "bandwidth_gbps": 8, "closed_ms": [[2, None]]}]
    compiled = problem([STAGE | {"boundary_mb": 1}, STAGE], 1, sites=sites, links=links)
    with pytest.raises(NeverOpensError, match="gradient over boundary 0"):
        join_lanes(compiled, in_order(compiled, "F0 B0 W0", "F0 B0 W0"))


def test_a_lane_serves_in_order_of_readiness_gradients_first_at_a_tie() -> None:
    sites = {"a": {"devices": 1}, "b": {"devices": 1}}
    links = [{"between": ["a", "b"], "bandwidth_gbps": 8, "duplex": "half"}]
    compiled = problem([STAGE | {"boundary_mb": 1}, STAGE], 4, sites=sites, links=links)
    orders = join_lanes(
        compiled, in_order(compiled, "F0 F1 F2 F3 B0 B1 B2 B3 W0 W1 W2 W3", "F0 B0 W0 F1 B1 W1 F2 B2 W2 F3 B3 W3")
    )
    kinds = [Kind(int(compiled.operations.kind[n])).name[0] for n in orders.sequences[2]]
    # F3 and B0 are ready together at 4 ms: the gradient goes first.
    assert kinds[:5] == ["A", "A", "A", "G", "A"]


def test_an_extra_operation_on_a_device_slips_in_when_ready() -> None:
    extras = [
        {"name": "gather", "duration_ms": 2, "before": [1], "device": "a/0"},
        {"name": "reduce", "duration_ms": 3, "after": [1], "device": "a/0"},
    ]
    compiled = problem(2, 1, extra_operations=extras)
    orders = join_lanes(compiled, in_order(compiled, "F0 B0 W0", "F0 B0 W0"))
    schedule = replay(compiled, orders)
    assert next(compiled.label(n) for n in orders.sequences[0]) == "extra operation gather"
    # gather 0-2, F(0) 2-3, F(1) 3-4, B(1) 4-5, W(1) 5-6; reduce waits for W(1) and for the device.
    assert makespan_ns(schedule) == 10 * MS


def test_peaks_count_static_memory_and_what_is_given_back_first() -> None:
    sites = {"a": {"devices": 1, "memory_gb": 0.004}}
    compiled = problem([STAGE | {"activation_mb": 2, "retained_mb": 1, "static_mb": 1}], 2, sites=sites)
    tight = replay(compiled, join_lanes(compiled, in_order(compiled, "F0 B0 F1 W0 B1 W1")))
    assert [(p.amount, p.at_ns) for p in peaks(compiled, tight)] == [(4 * MS, 2 * MS)]
    assert fits(compiled, tight)
    wide = replay(compiled, join_lanes(compiled, in_order(compiled, "F0 F1 B0 B1 W0 W1")))
    assert peaks(compiled, wide)[0].amount == 5 * MS
    assert not fits(compiled, wide)


def test_span_delays_the_first_operation_where_it_pays() -> None:
    # Two stages, the first frozen, microbatches of 1 and 10: the second device gains by starting late.
    stages = [{"forward_ms": 1, "frozen": True}, {"forward_ms": 1, "backward_ms": 1}]
    compiled = problem(stages, {"multipliers": [1, 10], "order": "fixed"})
    sequences = [
        np.array([compiled.number(Kind.F, 0, j) for j in (0, 1)]),
        np.array([compiled.number(k, 1, j) for k, j in ((Kind.F, 0), (Kind.BW, 0), (Kind.F, 1), (Kind.BW, 1))]),
    ]
    orders = join_lanes(compiled, sequences)
    plain, delayed = replay(compiled, orders), timed(compiled, orders, Objective.SPAN)
    assert (span_ns(compiled, plain), span_ns(compiled, delayed)) == (30 * MS, 22 * MS)


def test_the_span_of_the_longest_times_that_are_taken_is_exact() -> None:
    """Sixteen devices, a year from one to the next: sums along cycles of devices leave 64 bits."""
    hour_ms = 3_600_000
    stage = STAGE | {"forward_ms": hour_ms, "backward_input_ms": hour_ms, "backward_weight_ms": hour_ms}
    site = {"devices": 16, "hop_latency_ms": 9000 * hour_ms}
    compiled = problem([stage] * 16, 1, sites={"a": site})
    orders = Orders(tuple(rows[np.argsort(compiled.operations.kind[rows])] for rows in compiled.by_resource))
    schedule = timed(compiled, orders, Objective.SPAN)
    assert span_ns(compiled, schedule) == (2 * 16 + 2 * 15 * 9000 + 1) * hour_ms * 10**6


@st.composite
def random_problem(draw: st.DrawFn) -> tuple[Problem, list[np.ndarray]]:
    p, m = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    stages = [
        {
            "forward_ms": draw(st.integers(1, 6)),
            "backward_input_ms": draw(st.integers(1, 6)),
            "backward_weight_ms": draw(st.integers(1, 6)),
            "boundary_mb": draw(st.integers(0, 3)),
        }
        for _ in range(p)
    ]
    sites = {f"s{k}": {"devices": 1} for k in range(p)}
    links = [
        {"between": [f"s{k}", f"s{k + 1}"], "bandwidth_gbps": 8, "one_way_latency_ms": draw(st.integers(0, 9))}
        | ({"closed_ms": [[draw(st.integers(0, 20)), 25]]} if draw(st.booleans()) else {})
        for k in range(p - 1)
    ]
    compiled = problem(stages, m, sites=sites, links=links)
    sequences = []
    for stage in range(p):
        warm = draw(st.integers(1, m))
        order, f = [], 0
        for j in range(m):
            while f < min(m, j + max(warm, 1)):
                order.append(compiled.number(Kind.F, stage, f))
                f += 1
            order += [compiled.number(Kind.B, stage, j), compiled.number(Kind.W, stage, j)]
        sequences.append(np.array(order, dtype=np.int64))
    return compiled, sequences


def least_span_by_search(compiled: Problem, orders: Orders) -> int:
    """Smallest T for which repeated raising of releases settles, tried one by one around the answer."""
    base = replay(compiled, orders)
    first = [s[0] for s in orders.sequences[: len(compiled.devices)]]
    last = [s[-1] for s in orders.sequences[: len(compiled.devices)]]

    def settles(target: int) -> bool:
        release = np.zeros(len(compiled.operations), dtype=np.int64)
        for _ in range(60):
            now = replay(compiled, orders, release)
            late = now.end_ns[last] - target
            if (now.start_ns[first] >= late).all():
                return True
            release[first] = np.maximum(now.start_ns[first], late)
        return False

    low, high = 0, span_ns(compiled, base) // MS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle * MS) else (middle + 1, high)
    return low * MS


@settings(deadline=None)
@given(random_problem())
def test_the_second_pass_finds_the_smallest_span_of_the_orders(case: tuple[Problem, list[np.ndarray]]) -> None:
    compiled, sequences = case
    try:
        orders = join_lanes(compiled, sequences)
    except DeadlockError:
        return
    plain, delayed = replay(compiled, orders), timed(compiled, orders, Objective.SPAN)
    assert span_ns(compiled, delayed) <= span_ns(compiled, plain)
    found = span_ns(compiled, delayed)
    whole_ms = -(-found // MS) * MS
    assert whole_ms == least_span_by_search(compiled, orders)


def test_a_hundred_thousand_operations_replay_without_trouble() -> None:
    compiled = problem(8, 4200)
    sequences = [
        np.concatenate(
            [compiled.numbers[kind, 0, stage, :] for kind in (Kind.F, Kind.B, Kind.W)],
        )
        for stage in range(8)
    ]
    began = time.monotonic()
    schedule = timed(compiled, join_lanes(compiled, sequences), Objective.SPAN)
    assert len(compiled.operations) >= 10**5
    # Seconds are promised for this size; three times a generous ten are the contract.
    assert time.monotonic() - began < 30
    assert makespan_ns(schedule) == (4200 + 7) * 2 * MS + 4200 * MS
