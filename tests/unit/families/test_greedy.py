"""The greedy on every feature of a problem."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.unit.families.instances import Extra, Message, Work, build, uniform
from tests.unit.families.judged import accepted

from crosspipe.errors import DoesNotFitError
from crosspipe.families.greedy import Greedy, greedy
from crosspipe.families.points import PORTFOLIO, portfolio_for
from crosspipe.families.settings import Keep, Prefer, Rule, Settings
from crosspipe.families.vary import draw, vary
from crosspipe.problem.combine import combine
from crosspipe.problem.links import Window
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import makespan_ns

WORK = Work(2, 2, 1, activation=2, retained=1)
FOUR = [WORK] * 4
WAN = [Message(1), Message(latency=5, transfer=2, lane="wan/out"), Message(1)]
BACK = [Message(1), Message(latency=5, transfer=2, lane="wan/back"), Message(1)]


def test_the_portfolio_is_fixed_and_without_repeats() -> None:
    assert 12 <= len(PORTFOLIO) <= 24
    for objective in Objective:
        portfolio = portfolio_for(objective)
        assert len(set(portfolio)) == len(portfolio)
        assert portfolio[-len(PORTFOLIO) :] == PORTFOLIO


@pytest.mark.parametrize("settings", portfolio_for(Objective.SPAN))
def test_every_point_of_the_portfolio_on_a_wan_under_tight_memory(settings: Settings) -> None:
    problem = build(FOUR, [0, 1, 2, 3], 7, activations=WAN, gradients=BACK, capacity=6)
    accepted(problem, greedy(problem, settings))


def test_the_same_settings_give_the_same_orders() -> None:
    problem = build(FOUR, [0, 1, 2, 3], 7, activations=WAN, gradients=BACK, capacity=6)
    floor = Greedy(problem)
    first, second = floor.orders(PORTFOLIO[0]), floor.orders(PORTFOLIO[0])
    assert all(np.array_equal(a, b) for a, b in zip(first.sequences, second.sequences, strict=True))


def test_a_level_pass_runs_weights_where_waiting_would_make_a_device_the_idlest() -> None:
    problem = uniform(4, 8, latency=1, capacity=16)
    patient, level = (Settings(Rule.ALTERNATE, patience=0.0, gap=3.0, level=flag) for flag in (False, True))
    orders = [accepted(problem, greedy(problem, settings)).orders.sequences for settings in (patient, level)]
    earliest = [[int(np.argmax(problem.operations.kind[row] == Kind.W)) for row in rows[:4]] for rows in orders]
    assert earliest[1] <= earliest[0]
    assert earliest[1] != earliest[0]


def test_combined_backwards() -> None:
    problem = combine(uniform(4, 6, capacity=6))
    accepted(problem, greedy(problem, Settings()))


def test_frozen_and_input_only_stages() -> None:
    works = [Work(2, activation=1), Work(2, 2, activation=1), Work(2, 2, 1, activation=2), Work(1, backward=3)]
    problem = build(works, [0, 1, 2, 3], 6, activations=WAN, gradients=BACK, capacity=2)
    accepted(problem, greedy(problem, Settings(rule=Rule.FORWARD)))


def test_half_duplex_shared_by_replicas() -> None:
    one = [Message(1), Message(latency=5, transfer=2, lane="wan"), Message(1)]
    problem = build(
        FOUR, [0, 1, 2, 3], 4, activations=one, gradients=one, capacity=6, replicas=2, shared=frozenset({"wan"})
    )
    schedule = accepted(problem, greedy(problem, Settings()))
    assert len(schedule.orders.sequences[-1]) == 2 * 2 * 4


def test_closed_and_slower_windows() -> None:
    windows = {
        "wan/out": (Window(0, 4, 0, period_ns=9),),
        "wan/back": (Window(12, 40, 0),),
    }
    problem = build(FOUR, [0, 1, 2, 3], 6, activations=WAN, gradients=BACK, capacity=8, windows=windows)
    accepted(problem, greedy(problem, Settings()))


def test_a_lane_that_never_opens_again_is_named() -> None:
    windows = {"wan/out": (Window(10, None, 0),)}
    problem = build(FOUR, [0, 1, 2, 3], 6, activations=WAN, gradients=BACK, windows=windows)
    with pytest.raises(
        DoesNotFitError,
        match=r"lane wan/out never again opens for a message of 0\.000002 ms that is ready at 0\.000009 ms",
    ):
        greedy(problem, Settings())


@pytest.mark.parametrize("place", [{"device": 0}, {"lane": "wan/back"}, {}])
def test_extra_operations(place: dict[str, object]) -> None:
    extras = (
        Extra("gather", 6, before=(0, 1), **place),  # type: ignore[arg-type]
        Extra("reduce", 5, after=(0, 3), **place),  # type: ignore[arg-type]
    )
    problem = build(FOUR, [0, 1, 2, 3], 5, activations=WAN, gradients=BACK, extras=extras, replicas=2)
    schedule = accepted(problem, greedy(problem, Settings()))
    first = problem.number(Kind.F, 0, 0)
    assert first is not None
    assert schedule.start_ns[first] == 6


def test_required_order_is_kept_on_lanes_too() -> None:
    """The second message is short enough for a gap before the first; the order given forbids it."""
    sizes = [9, 1, 5, 1]
    problem = build(
        FOUR,
        [0, 1, 2, 3],
        sizes,
        activations=WAN,
        gradients=BACK,
        fixed=True,
        windows={"wan/out": (Window(30, 70, 0),)},
    )
    schedule = accepted(problem, greedy(problem, Settings()))
    for chain in problem.chains:
        starts = schedule.start_ns[chain]
        assert (np.diff(starts) >= 0).all()


def test_free_microbatches_run_in_the_order_asked_for() -> None:
    problem = build(FOUR, [0, 1, 2, 3], [3, 1, 2], activations=WAN, gradients=BACK, capacity=9)
    orders = greedy(problem, Settings(), order=(1, 2, 0))
    accepted(problem, orders)
    ops = problem.operations
    forwards = [x for x in orders.sequences[0] if ops.kind[x] == Kind.F]
    assert ops.microbatch[forwards].tolist() == [1, 2, 0]


def test_microbatches_in_flight_are_limited() -> None:
    problem = build(FOUR, [0, 1, 2, 3], 8, activations=WAN, gradients=BACK, in_flight=2)
    accepted(problem, greedy(problem, Settings(rule=Rule.FORWARD)))


def test_one_operation_per_device_and_kind() -> None:
    accepted(uniform(1, 1), greedy(uniform(1, 1), Settings()))


def test_zero_bubble_h1_is_reached_where_it_is_optimal() -> None:
    """8 devices, F 20, B 21, W 15, hop 3, memory of 1F1B: 1610 is proved optimal."""
    problem = uniform(8, 24, forward=20, backward_input=21, backward_weight=15, latency=3, capacity=16)
    values = [makespan_ns(accepted(problem, greedy(problem, settings))) for settings in PORTFOLIO]
    assert min(values) == 1610


def test_patience_waits_for_a_backward_that_is_about_to_arrive() -> None:
    """At 6, two F's done, F2 is ready; B0 is known to arrive at 10, half a W later."""
    works = [Work(3, 4, 8, activation=1), Work(1, 6, 1, activation=1)]
    problem = build(works, [0, 1], 3)
    kinds = {}
    for patience in (0.4, 0.5):
        orders = greedy(problem, Settings(rule=Rule.BACKWARD, patience=patience))
        kinds[patience] = [Kind(k) for k in problem.operations.kind[orders.sequences[0]].tolist()]
    assert kinds[0.4][:4] == [Kind.F, Kind.F, Kind.F, Kind.B]
    assert kinds[0.5][:3] == [Kind.F, Kind.F, Kind.B]


def test_owed_weights_are_paid_first_beyond_the_limit() -> None:
    problem = uniform(2, 4)
    orders = greedy(problem, Settings(rule=Rule.FORWARD, owed=0))
    kinds = problem.operations.kind[orders.sequences[0]].tolist()
    for at, kind in enumerate(kinds):
        if kind == Kind.B:
            assert kinds[at + 1] == Kind.W


def test_depth_limits_microbatches_in_flight() -> None:
    problem = uniform(1, 6, forward=5)
    orders = greedy(problem, Settings(rule=Rule.FORWARD, depth=0.1))
    kinds = [k for k in problem.operations.kind[orders.sequences[0]].tolist() if k != Kind.W]
    assert kinds == [Kind.F, Kind.B] * 6


@pytest.mark.parametrize("prefer", Prefer)
def test_preferences_among_chunks(prefer: Prefer) -> None:
    problem = uniform(1, 3, chunks=2)
    orders = greedy(problem, Settings(rule=Rule.FORWARD, prefer=prefer, patience=0.0))
    ops = problem.operations
    forwards = [(int(ops.stage[x]), int(ops.microbatch[x])) for x in orders.sequences[0] if ops.kind[x] == Kind.F]
    nearest = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    depth_first = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert forwards == (nearest if prefer == Prefer.NEAREST else depth_first)


def test_varied_settings_stay_legal() -> None:
    rng = Random(0)  # noqa: S311 - a fixed stream of settings
    settings = draw(rng)
    problem = build(FOUR, [0, 1, 2, 3], 5, activations=WAN, gradients=BACK, capacity=4)
    floor = Greedy(problem)
    seen = set()
    for _ in range(60):
        settings = vary(settings, rng)
        seen.add(settings)
        accepted(problem, floor.orders(settings))
        assert settings.keep in Keep
    assert len(seen) > 50
