"""What is told of each family: its value, or why it does not fit, with numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.unit.families.instances import Message, Work, build, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.known import Family
from crosspipe.families.portfolio import Attempt, Passes, attempts, best_greedy
from crosspipe.families.registry import FAMILIES, GREEDY, best_of, run_families
from crosspipe.families.settings import Settings
from crosspipe.families.steps import DeviceOrders, Step
from crosspipe.families.variants import Variant, microbatch_orders, neighbours, recompute_sets
from crosspipe.problem.combine import combine
from crosspipe.problem.links import Window
from crosspipe.problem.operations import NO_DEADLINE, Kind, RecomputeChoice
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.replay import replay

if TYPE_CHECKING:
    from crosspipe.families.known import FamilyResult
    from crosspipe.problem.problem import Problem

MAKESPAN = Objective.MAKESPAN
BY_NAME = {family.name: family for family in FAMILIES}


def put(name: str, problem: Problem, objective: Objective = MAKESPAN) -> FamilyResult:
    return BY_NAME[name].put_to(problem, objective)


def readme(gigabytes: int) -> Problem:
    """The two-site example: 8 stages of the 1.5B profile, 24 microbatches, 15 ms between the sites."""
    work = Work(18_522_000, 18_086_000, 9_337_000, activation=3_709_000_000, retained=1_359_000_000)
    near = Message(601_000)
    out, back = [near] * 7, [near] * 7
    out[3], back[3] = (Message(15_000_000, 2_264_000, f"east-west/{lane}") for lane in ("out", "back"))
    return build(
        [work] * 8,
        list(range(8)),
        24,
        activations=out,
        gradients=back,
        capacity=gigabytes * 10**9,
        base=2_250_000_000,
    )


def test_values_of_the_two_site_example() -> None:
    results = {result.name: result for result in run_families(readme(32), MAKESPAN, budget_s=0.0)}
    assert results["1F1B"].value_ns == 1_814_921_000
    assert results["ZB-H1"].value_ns == 1_609_507_000


def test_memory_is_told_in_activations_and_megabytes() -> None:
    result = put("ZB-H2", readme(32))
    assert result.orders is None
    assert result.value_ns is None
    assert result.reason == "needs 15 activations (57885 MB) on site/0, has 32000 MB"
    assert result.peak_bytes is not None
    assert result.peak_bytes[0] == 57_885_000_000


def test_a_limit_on_microbatches_in_flight_is_told() -> None:
    problem = build([Work(1, 1, 1)] * 4, [0, 1, 2, 3], 8, in_flight=3)
    assert put("ZB-H1", problem).reason == "needs 4 microbatches in flight on stage 0 (site/0), the limit is 3"


def test_a_deadline_is_told() -> None:
    problem = uniform(2, 4, forward=10**6, backward_input=10**6, backward_weight=10**6)
    due = np.full(len(problem.operations), NO_DEADLINE, dtype=np.int64)
    last = problem.number(Kind.W, 0, 3)
    assert last is not None
    due[last] = 12_500_000
    late = put("ZB-H1", replace(problem, due_ns=due))
    assert late.reason == "W of stage 0, microbatch 3 ends at 13 ms, due at 12.5 ms"
    due[last] = 13_000_000
    assert put("ZB-H1", replace(problem, due_ns=due)).reason is None


def test_a_missing_route_is_told_by_all() -> None:
    problem = uniform(2, 3)
    broken = replace(problem, hops=tuple(replace(hop, missing=True) for hop in problem.hops))
    for result in run_families(broken, MAKESPAN):
        if result.name != "interleaved 1F1B":
            assert result.reason == "no link leads from site/0 to site/1"


def test_a_lane_that_never_opens_is_told_by_all() -> None:
    hop = Message(1, 2, "wan/out")
    problem = build([Work(1, 1, 1)] * 2, [0, 1], 3, activations=[hop], windows={"wan/out": (Window(3, None, 0),)})
    for name in ("GPipe", "1F1B", "1F1B split", "ZB-H1", "ZB-H2"):
        assert "never opens" in (put(name, problem).reason or "")
    assert "never again opens" in (best_greedy(problem, MAKESPAN).reason or "")


def test_an_order_that_waits_for_itself_is_told() -> None:
    def backwards_first(problem: Problem) -> DeviceOrders:
        return [[Step(kind, s, 0) for kind in (Kind.B, Kind.F, Kind.W)] for s in range(len(problem.stages))]

    result = Family("upside down", backwards_first).put_to(uniform(2, 1), MAKESPAN)
    assert (result.reason or "").startswith("waits for itself (deadlock): ")


def test_a_combined_family_is_quoted_combined_and_handed_on_split() -> None:
    problem = uniform(4, 8, forward=2, backward_input=2, backward_weight=1, slow={1: Message(4, 1, "wan/out")})
    result = put("1F1B", problem)
    assert result.orders is not None
    assert result.value_ns == makespan_ns(replay(combine(problem), BY_NAME["1F1B"].build(combine(problem))))
    schedule = accepted(problem, result.orders)
    assert makespan_ns(schedule) < result.value_ns
    for sequence in result.orders.sequences[: len(problem.devices)]:
        kinds = problem.operations.kind[sequence].tolist()
        assert all(kinds[at + 1] == Kind.W for at, kind in enumerate(kinds) if kind == Kind.B)


@pytest.mark.parametrize("name", ["1F1B", "ZB-H1"])
def test_build_gives_the_orders_that_are_judged(name: str) -> None:
    problem = uniform(3, 5)
    result = put(name, problem)
    assert result.orders is not None
    built = BY_NAME[name].build(problem)
    assert all(np.array_equal(a, b) for a, b in zip(built.sequences, result.orders.sequences, strict=True))


def test_span_counts_from_each_devices_first_operation() -> None:
    problem = uniform(4, 8)
    by_makespan, by_span = put("ZB-H2", problem), put("ZB-H2", problem, Objective.SPAN)
    assert by_span.value_ns == by_span.span_ns
    assert by_span.span_ns is not None
    assert by_makespan.makespan_ns is not None
    assert by_span.span_ns < by_makespan.makespan_ns
    greedy_span = best_greedy(problem, Objective.SPAN)
    assert greedy_span.value_ns == greedy_span.span_ns


def test_best_of_ignores_what_does_not_fit() -> None:
    results = run_families(uniform(4, 8, capacity=8), MAKESPAN)
    best = best_of(results)
    assert best is not None
    assert best.value_ns == 27
    assert best_of(result for result in results if result.orders is None) is None


def test_the_first_settings_are_always_tried() -> None:
    result = best_greedy(uniform(4, 8), MAKESPAN, budget_s=0.0)
    assert result.name == GREEDY
    assert result.orders is not None


@pytest.mark.parametrize(("patience_s", "fewest", "most"), [(0.0, 1, 1), (None, 20, 1000)])
def test_the_portfolio_gives_up_in_time_where_nothing_fits(
    monkeypatch: pytest.MonkeyPatch, patience_s: float | None, fewest: int, most: int
) -> None:
    problem = uniform(4, 8)
    late = replace(problem, due_ns=np.ones(len(problem.operations), dtype=np.int64))
    passes = []
    make = Passes.make

    def counted(self: Passes, variant: Variant, settings: Settings) -> Attempt:
        passes.append(settings)
        return make(self, variant, settings)

    monkeypatch.setattr(Passes, "make", counted)
    result = best_greedy(late, MAKESPAN, budget_s=0.0, patience_s=patience_s)
    assert result.orders is None
    assert "due at" in (result.reason or "")
    assert fewest <= len(passes) <= most


def test_the_portfolio_stops_at_a_value_known_to_be_least() -> None:
    problem = uniform(4, 8)
    assert best_greedy(problem, MAKESPAN, target_ns=10**9).value_ns == next(iter(attempts(problem, MAKESPAN))).value_ns


def with_choices(problem: Problem, activation: int, recompute: int) -> Problem:
    """Let every stage hold only `activation` until B, which then takes `recompute` longer."""
    choices = []
    for stage in range(len(problem.stages)):
        backward = problem.numbers[Kind.B, 0, stage]
        mine = np.flatnonzero(np.isin(problem.holdings.taken_by, problem.numbers[Kind.F, 0, stage]))
        longer = problem.operations.duration_ns[backward] + recompute
        amounts = np.where(problem.holdings.amount[mine] > 0, activation, 0)
        choices.append(RecomputeChoice(stage, backward, longer, mine, amounts))
    return replace(problem, choices=tuple(choices))


def test_families_recompute_only_where_memory_is_too_small() -> None:
    problem = with_choices(build([Work(2, 2, 1, activation=4, retained=0)] * 4, [0, 1, 2, 3], 8, capacity=10), 1, 2)
    result = put("ZB-H1", problem)
    assert result.orders is not None
    assert result.orders.recomputed == {0, 1}
    accepted(problem, result.orders)
    roomy = with_choices(build([Work(2, 2, 1, activation=4, retained=0)] * 4, [0, 1, 2, 3], 8, capacity=16), 1, 2)
    assert put("ZB-H1", roomy).orders is not None
    assert put("ZB-H1", roomy).orders.recomputed == frozenset()  # type: ignore[union-attr]


def test_the_greedy_recomputes_where_it_pays() -> None:
    tight = with_choices(build([Work(2, 2, 1, activation=4)] * 4, [0, 1, 2, 3], 8, capacity=4), 1, 1)
    result = best_greedy(tight, MAKESPAN)
    assert result.orders is not None
    assert result.orders.recomputed
    accepted(tight, result.orders)
    plain = best_greedy(replace(tight, choices=()), MAKESPAN)
    assert result.value_ns is not None
    assert plain.value_ns is not None
    assert result.value_ns < plain.value_ns


def test_a_stage_that_fits_only_recomputed_is_found() -> None:
    problem = with_choices(build([Work(2, 2, 1, activation=4)] * 2, [0, 1], 3, capacity=3), 1, 1)
    result = best_greedy(problem, MAKESPAN)
    assert result.orders is not None
    assert result.orders.recomputed == {0, 1}


def test_variants_of_few_and_many_choices() -> None:
    few = with_choices(uniform(2, 3), 1, 1)
    assert len(set(recompute_sets(few))) == 4
    assert list(neighbours(few, Variant())) == []
    many = with_choices(uniform(5, 3), 1, 1)
    assert list(recompute_sets(many)) == [frozenset(), *(frozenset({s}) for s in range(5)), frozenset(range(5))]
    assert Variant(frozenset({2})) in set(neighbours(many, Variant()))
    assert list(recompute_sets(many.recompute(frozenset({1})))) == [frozenset()]


def test_unlike_microbatches_are_tried_in_several_orders() -> None:
    work = [Work(1, 1, 1)] * 2
    assert list(microbatch_orders(build(work, [0, 1], 4))) == [None]
    assert list(microbatch_orders(build(work, [0, 1], [3, 1, 4, 2], fixed=True))) == [None]
    free = build(work, [0, 1], [3, 1, 4, 2])
    assert list(microbatch_orders(free)) == [None, (1, 3, 0, 2), (2, 0, 3, 1), (1, 0, 2, 3)]
    result = best_greedy(free, MAKESPAN)
    given = next(a for a in attempts(free, MAKESPAN, (Settings(),)) if a.variant == Variant())
    assert result.value_ns is not None
    assert given.value_ns is not None
    assert result.value_ns <= given.value_ns
