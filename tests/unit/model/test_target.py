"""Targets: met exactly from the optimum on, refuted below it, whatever is known of the windows."""

from __future__ import annotations

import pytest
from tests.unit.families.instances import Message, Work, build, uniform
from tests.unit.families.judged import accepted

from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Settings
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.machines import lattice_of
from crosspipe.lattice.starts import start_windows
from crosspipe.model.result import ModelLimits
from crosspipe.model.solve import improve
from crosspipe.model.target import Targets
from crosspipe.problem.links import Window
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import makespan_ns

SLOW = {1: Message(latency=5, transfer=4, lane="wan")}
LIMITS = ModelLimits(time_s=30.0)


def _problems() -> dict[str, Problem]:
    unlike = [Work(2, 3, 1), Work(4, 3, 2), Work(1, 2, 3), Work(3, 3, 3)]
    slow = [Message(1), Message(latency=3, transfer=5, lane="wan"), Message(1)]
    closed = (Window(6, 20, 0),)
    return {
        "uniform": uniform(3, 4, forward=3, backward_input=4, backward_weight=2, latency=1, capacity=6),
        "slow hop": uniform(3, 5, forward=3, backward_input=4, backward_weight=2, capacity=8, slow=SLOW),
        "wave": uniform(2, 4, forward=3, backward_input=4, backward_weight=2, chunks=2, wave=True, capacity=10),
        "unlike stages": build(unlike, [0, 1, 2, 3], 4, activations=slow, gradients=slow, capacity=6),
        "unlike microbatches": build(unlike[:3], [0, 1, 2], [1, 2, 3], capacity=12),
        "closed for a while": build(unlike, [0, 1, 2, 3], 3, activations=slow, gradients=slow, windows={"wan": closed}),
    }


PROBLEMS = _problems()


@pytest.fixture(scope="module", params=PROBLEMS)
def case(request: pytest.FixtureRequest) -> tuple[Problem, Targets, int]:
    """Give a problem, its targets and its proved optimum."""
    problem = PROBLEMS[request.param]
    schedule = accepted(problem, greedy(problem, Settings()))
    proved = improve(problem, Objective.MAKESPAN, schedule, 0, LIMITS)
    assert proved.status == "optimal"
    assert proved.bound_ns is not None
    return problem, Targets(problem, schedule), proved.bound_ns


def test_the_optimum_is_met_and_no_less_is(case: tuple[Problem, Targets, int]) -> None:
    problem, targets, best_ns = case
    met = targets.decide(best_ns, None, LIMITS)
    assert met.outcome == "met"
    assert met.orders is not None
    assert makespan_ns(accepted(problem, met.orders)) == best_ns
    assert targets.decide(best_ns - 1, None, LIMITS).outcome == "refuted"


def test_windows_of_the_lattice_change_nothing_but_the_work(case: tuple[Problem, Targets, int]) -> None:
    problem, targets, best_ns = case
    lattice = lattice_of(problem, 10**6) if problem.identical else None
    if lattice is None:
        assert not problem.identical
        return
    tables, tick = Tables(lattice), lattice.tick_ns
    windows = start_windows(problem, tables, best_ns // tick)
    assert windows is not None
    met = targets.decide(best_ns, windows, LIMITS)
    assert met.orders is not None
    assert makespan_ns(accepted(problem, met.orders)) == best_ns
    below = best_ns - tick
    windows = start_windows(problem, tables, below // tick)
    assert windows is None or targets.decide(below, windows, LIMITS).outcome == "refuted"


def test_no_time_leaves_a_target_open(case: tuple[Problem, Targets, int]) -> None:
    _, targets, best_ns = case
    assert targets.decide(best_ns, None, LIMITS, should_stop=lambda: True).outcome == "open"


def test_a_target_below_every_path_is_refuted_without_a_search(case: tuple[Problem, Targets, int]) -> None:
    _, targets, _ = case
    decision = targets.decide(1, None, LIMITS)
    assert decision.outcome == "refuted"
    assert decision.work == 0.0


def test_counted_work_gives_the_same_decision_twice(case: tuple[Problem, Targets, int]) -> None:
    _, targets, best_ns = case
    counted = ModelLimits(time_s=60.0, workers=1, seed=3, deterministic=True)
    one, other = (targets.decide(best_ns, None, counted, counted_s=0.5) for _ in range(2))
    assert (one.outcome, one.work) == (other.outcome, other.work)
