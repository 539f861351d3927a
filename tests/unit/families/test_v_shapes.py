"""ZB-V, V-Half and V-Min: what others reach with them, what they hold, and that no count of anything stops them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.families.instances import Message, Work, build, uniform
from tests.unit.families.judged import accepted

from crosspipe.errors import DoesNotFitError
from crosspipe.families.registry import FAMILIES
from crosspipe.families.v_half import v_half
from crosspipe.families.v_min import v_min
from crosspipe.families.zb_v import zb_v
from crosspipe.problem.combine import combine
from crosspipe.problem.problem import Objective, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crosspipe.families.steps import DeviceOrders

BY_NAME = {family.name: family for family in FAMILIES}
COLUMNS = {"ZB-V": "zbv", "V-Half": "vhalf", "V-Min": "vmin"}

TABLE = json.loads(Path("tests/data/bench/peers.json").read_text())
PEERS = [*TABLE["grid"], *TABLE["profiles"]]

LONGER: dict[tuple[str, int, int, int, int], float] = {
    ("ZB-V", 4, 8, 1000, 100): 200,
    ("ZB-V", 4, 12, 1000, 100): 200,
    ("ZB-V", 4, 16, 1000, 100): 200,
}
"""Spans that ours exceed at the memory of 1F1B, by how much: (family, p, m, F, hop)."""

LATER: dict[tuple[str, int, int, int, int], float] = {("V-Half", 4, 12, 5, 0): 0.5}
"""Makespans and spans that ours exceed, by how much."""


def name_of(given: Mapping[str, Any]) -> str:
    return f"{given['p']}x{given['m']}-{given['F']}-{given['hop']}-{given['memory']}x"


def wave(given: Mapping[str, Any]) -> Problem:
    """Two half stages per device, in halves of the table's unit of time; hops cost nothing at the turn."""
    activation, retained = 2, 1
    if given.get("set") == "iclr":
        hidden, heads = (2304, 24) if given["F"] < 25_000 else (4096, 32)
        activation, retained = 34 * hidden + 5 * heads * 1024, 32 * hidden
    return uniform(
        given["p"],
        given["m"],
        forward=given["F"],
        backward_input=given["B"],
        backward_weight=given["W"],
        latency=2 * given["hop"],
        activation=activation,
        retained=retained,
        capacity=int(given["memory"] * given["p"] * 2 * activation),
        chunks=2,
        wave=True,
    )


def rows() -> list[Any]:
    """Rows by family; V-Half and V-Min are the same in every memory that they fit in, so the least is enough."""
    found = []
    for name in COLUMNS:
        seen = set()
        for given in PEERS:
            costs = tuple(given[key] for key in ("p", "m", "F", "hop"))
            if name == "ZB-V" or costs not in seen:
                found.append(pytest.param(name, given, id=f"{name}-{name_of(given)}"))
            seen.add(costs)
    return found


@pytest.mark.parametrize(("name", "given"), rows())
def test_what_other_schedulers_reach(name: str, given: dict[str, Any]) -> None:
    problem = wave(given)
    makespan, span = given["peers"][COLUMNS[name]]
    key = (name, given["p"], given["m"], given["F"], given["hop"])
    later = LATER.get(key, 0)
    longer = LONGER.get(key, 0) if given["memory"] == 1 else 0
    # The table rounds profiles to whole units, and we count in halves.
    rounded = 1 if given.get("set") == "iclr" and name == "ZB-V" else 0
    by_makespan = BY_NAME[name].put_to(problem, Objective.MAKESPAN)
    by_span = BY_NAME[name].put_to(problem, Objective.SPAN)
    assert by_makespan.makespan_ns is not None, by_makespan.reason
    assert by_span.span_ns is not None, by_span.reason
    assert by_makespan.makespan_ns <= 2 * (makespan + later) + rounded
    assert by_span.span_ns <= 2 * (span + later + longer) + rounded
    if later:
        assert by_makespan.makespan_ns == 2 * (makespan + later), "a figure is better than told here"
    if longer:
        assert by_span.span_ns == 2 * (span + longer), "a figure is better than told here"


@pytest.mark.parametrize("p", range(2, 17))
def test_memory_in_activations(p: int) -> None:
    problem = uniform(p, 4 * p, chunks=2, wave=True)
    held = {"ZB-V": p, "V-Half": (p + 2) // 2, "V-Min": (p + 4) // 3}
    for name, activations in held.items():
        peak = BY_NAME[name].put_to(problem, Objective.MAKESPAN).peak_bytes
        assert peak is not None
        assert 4 * (activations - 1) < max(peak) <= 4 * activations, name


@pytest.mark.parametrize(("p", "rounds"), [(2, 4), (5, 3), (8, 2), (16, 3)])
def test_zb_v_has_no_steady_bubble_with_equal_thirds(p: int, rounds: int) -> None:
    result = BY_NAME["ZB-V"].put_to(uniform(p, p * rounds, chunks=2, wave=True), Objective.SPAN)
    assert result.span_ns == 6 * p * rounds
    assert result.makespan_ns == 6 * p * rounds + p - 1


def test_hops_within_the_slack_of_the_block_cost_zb_v_nothing_more_per_microbatch() -> None:
    def makespan(m: int, latency: int) -> int:
        problem = uniform(4, m, forward=10, backward_input=10, backward_weight=10, latency=latency, chunks=2, wave=True)
        result = BY_NAME["ZB-V"].put_to(problem, Objective.MAKESPAN)
        assert result.makespan_ns is not None
        return result.makespan_ns

    assert makespan(24, 10) - makespan(16, 10) == 8 * 60
    assert makespan(24, 30) - makespan(16, 30) > 8 * 60


def unlike(p: int, m: int, seed: int, capacity: int | None) -> Problem:
    rng = random.Random(seed)  # noqa: S311 - which stages are tried
    works = [
        Work(rng.randint(1, 30), rng.randint(1, 30), rng.randint(0, 30), activation=4, retained=rng.randint(0, 4))
        for _ in range(2 * p)
    ]
    hops = [Message(rng.randint(0, 40), rng.choice((0, 0, 7)), f"{s}") for s in range(2 * p - 1)]
    order = [*range(p), *reversed(range(p))]
    return build(works, order, m, activations=hops, gradients=hops, capacity=capacity, traversal="wave")


@pytest.mark.parametrize("p", range(2, 9))
@pytest.mark.parametrize("m", range(1, 10))
def test_nothing_waits_for_itself_on_unlike_stages(p: int, m: int) -> None:
    for capacity in (None, 8 * p, 6 * p, 8):
        problem = unlike(p, m, 100 * p + m, capacity)
        for name in COLUMNS:
            result = BY_NAME[name].put_to(problem, Objective.MAKESPAN)
            if result.orders is not None:
                accepted(problem, result.orders)
            else:
                assert capacity is not None
                assert "activation" in (result.reason or "")


@pytest.mark.parametrize("p", range(2, 9))
def test_zb_v_keeps_the_memory_of_the_devices(p: int) -> None:
    for activations in (p, p + 1, 2 * p):
        problem = uniform(p, 3 * p, latency=2, capacity=4 * activations, chunks=2, wave=True)
        result = BY_NAME["ZB-V"].put_to(problem, Objective.MAKESPAN)
        assert result.reason is None
        assert result.peak_bytes is not None
        assert max(result.peak_bytes) <= 4 * activations


def test_more_memory_hides_more_of_the_hops() -> None:
    found = []
    for activations in (8, 12, 16):
        problem = uniform(8, 32, latency=3, capacity=4 * activations, chunks=2, wave=True)
        found.append(BY_NAME["ZB-V"].put_to(problem, Objective.MAKESPAN).makespan_ns or 0)
    assert found[0] > found[1] > found[2]


def test_of_very_many_steps_zb_v_makes_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = uniform(8, 16, forward=5, backward_input=5, backward_weight=5, latency=1, chunks=2, wave=True)
    of_five = BY_NAME["ZB-V"].put_to(problem, Objective.SPAN)
    monkeypatch.setattr("crosspipe.families.zb_v.LARGE", 100)
    of_one = BY_NAME["ZB-V"].put_to(problem, Objective.SPAN)
    assert of_one.orders is not None
    accepted(problem, of_one.orders)
    assert (of_one.span_ns or 0) > (of_five.span_ns or 0)


def test_too_little_memory_is_told_in_activations() -> None:
    problem = uniform(4, 8, capacity=7, chunks=2, wave=True)
    reasons = {name: BY_NAME[name].put_to(problem, Objective.MAKESPAN).reason for name in COLUMNS}
    assert reasons["ZB-V"] == "needs 8 activations (0.000016 MB) on site/0, has 0.000007 MB"
    assert reasons["V-Half"] == "needs 6 activations (0.000012 MB) on site/0, has 0.000007 MB"
    assert reasons["V-Min"] == "needs 4 activations (0.000008 MB) on site/0, has 0.000007 MB"


def test_the_order_of_v_half_and_v_min_knows_no_costs() -> None:
    plain = uniform(4, 6, chunks=2, wave=True)
    for steps in (v_half, v_min):
        assert steps(plain) == steps(unlike(4, 6, 1, None))


def test_a_run_is_repeatable() -> None:
    problem = unlike(6, 9, 3, 48)
    for steps in (zb_v, v_half, v_min):
        assert steps(problem) == steps(problem)


@pytest.mark.parametrize("steps", [zb_v, v_half, v_min])
@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (uniform(4, 3), r"needs a wave placement .* this is unidirectional \(4 stages on 4 devices\)"),
        (uniform(4, 3, chunks=2), r"needs a wave placement .* this is loop \(8 stages on 4 devices\)"),
        (uniform(4, 3, chunks=4, wave=True), r"with two stages per device, this is wave \(16 stages on 4 devices\)"),
        (combine(uniform(4, 3, chunks=2, wave=True)), "the backward of stage 0 is combined"),
    ],
    ids=["unidirectional", "loop", "four stages", "combined"],
)
def test_where_they_do_not_apply(steps: Callable[[Problem], DeviceOrders], problem: Problem, told: str) -> None:
    with pytest.raises(DoesNotFitError, match=told):
        steps(problem)
