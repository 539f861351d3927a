"""The naive CP-SAT and the static families as contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench.contenders import CONTENDERS
from bench.contest import Contest
from bench.peers import families, naive_cpsat
from bench.peers.families import KNOWN
from bench.peers.naive_cpsat import NaiveModel
from bench.suites.datacenters import Setting, spec_of
from tests.golden.cases import case_named, expected
from tests.golden.mapping import case_to_spec
from tests.unit.bench.contests import contest_of

from crosspipe.families.registry import GREEDY

if TYPE_CHECKING:
    from bench.history import State

ROW = {"p": 3, "m": 4, "hop": 500, "memory": 1}


@pytest.mark.parametrize(("objective", "value"), [("makespan", 18_000_000), ("span", 18_000_000)])
def test_a_proved_value_is_reproduced(objective: str, value: int) -> None:
    told: list[State] = []
    measured = naive_cpsat.run(contest_of({**ROW, "objective": objective}, 60.0, told))
    assert (measured.status, measured.value_ns, measured.bound_ns) == ("optimal", value, value)
    assert told[-1].gap == 0.0
    assert all(state.bound_ns is None or state.bound_ns <= value for state in told)


@pytest.mark.parametrize(
    "case_id", ["v_wave-01", "loop-01", "half_duplex-01", "variable_microbatch-01", "span_delay-01"]
)
def test_golden_optima_of_other_placements(case_id: str) -> None:
    case = case_named(case_id)
    measured = naive_cpsat.run(Contest(case_to_spec(case), case["objective"], 60.0, 1, lambda _: None))
    assert (measured.status, measured.value_ns) == ("optimal", expected(case) * 10**6)


def test_an_infeasible_case_is_refuted() -> None:
    case = next(case for case in map(case_named, ("infeasible-01", "infeasible-02")) if case["kind"] == "schedule")
    measured = naive_cpsat.run(Contest(case_to_spec(case), "makespan", 60.0, 1, lambda _: None))
    assert (measured.status, measured.value_ns) == ("infeasible", None)


def test_the_horizon_is_the_total_work() -> None:
    problem, objective = contest_of({**ROW, "objective": "makespan"}, 1.0, []).compiled()
    naive = NaiveModel(problem, objective, 500_000)
    assert naive.horizon == 3 * 4 * 3 * 2 + 2 * 2 * 4


def test_windows_are_refused() -> None:
    case = case_named("closed_window-02")
    with pytest.raises(ValueError, match="windows"):
        naive_cpsat.run(Contest(case_to_spec(case), case["objective"], 1.0, 1, lambda _: None))


def test_static_families_are_put_and_the_best_is_named() -> None:
    told: list[State] = []
    measured = families.run(contest_of({**ROW, "objective": "makespan"}, 1.0, told))
    assert measured.status == "feasible"
    assert measured.value_ns == min(state.value_ns for state in told if state.value_ns is not None)
    assert measured.value_from in (measured.notes or {})
    assert (measured.notes or {})["1F1B"] == 22_000_000
    assert measured.bound_ns is None


def test_every_contender_has_a_name() -> None:
    alone = {name for name in CONTENDERS if name.removesuffix(" static") in KNOWN or name == GREEDY}
    assert set(CONTENDERS) - alone == {"crosspipe", "families", "milp-cbc", "milp-highs", "cp-sat-naive"}
    assert len(alone) == 2 * len(KNOWN) + 1


def test_static_orders_are_those_without_delays() -> None:
    setting = Setting(sites=2, latency=2, transfer=0.25, case=1)
    makers = ("ZB-V", "ZB-V static")

    def put(name: str, setting: Setting) -> int | None:
        return CONTENDERS[name](Contest(spec_of(setting, "wave"), "makespan", 1.0, 1, lambda _: None)).value_ns

    made, static = (put(name, setting) for name in makers)
    free = [put(name, Setting(2, 0, 0, 1)) for name in makers]
    assert free[0] == free[1]
    assert made is not None
    assert static is not None
    assert made < static
