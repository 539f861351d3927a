"""The MILP after the Zero Bubble paper: its size, its proofs, what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pulp  # type: ignore[import-untyped]  # PuLP has no types
import pytest
from bench.contest import Contest
from bench.peers.cbc import CbcEndedError, states
from bench.peers.judged import Unit, judged
from bench.peers.milp import run_cbc, run_highs
from bench.peers.milp_model import build
from bench.peers.stage_view import Message, UnsuitableError, stage_view
from bench.suites import readme
from tests.building import STAGE, problem
from tests.golden.cases import case_named
from tests.golden.mapping import case_to_spec
from tests.unit.bench.contests import MILP_ROWS, contest_of, name_of

from crosspipe.families.registry import FAMILIES
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.history import State
    from bench.measurement import Measurement
    from bench.row import Row

SOLVERS = {"cbc": run_cbc, "highs": run_highs}
FAST = ["2x4 c0 1x span", "2x4 c500 1x makespan", "3x4 c500 1x span", "4x4 c500 1x makespan", "4x8 c0 1x span"]
LONG_S = 120.0

PROVED = [row for row in MILP_ROWS if row["proved"]]


@pytest.mark.parametrize("row", MILP_ROWS, ids=name_of)
def test_the_open_pairs_are_those_of_the_paper(row: dict[str, Any]) -> None:
    problem, objective = contest_of(row, 1.0, []).compiled()
    unit = Unit.of(problem)
    milp = build(stage_view(problem, unit.ns), objective, 100)
    assert len(milp.first) == row["binaries"]


@pytest.mark.parametrize("row", [row for row in PROVED if name_of(row) in FAST], ids=name_of)
@pytest.mark.parametrize("solver", SOLVERS)
def test_small_optima_are_proved(solver: str, row: dict[str, Any]) -> None:
    _assert_proved(SOLVERS[solver], row)


def test_what_pulp_says_of_the_machine_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise pulp.PulpSolverError("Pulp: Error while trying to execute /some/where/cbc")

    monkeypatch.setattr(pulp.LpProblem, "solve", broken)
    with pytest.raises(CbcEndedError) as told:
        run_cbc(contest_of(PROVED[0], 1.0, []))
    assert "/" not in str(told.value)


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in PROVED if name_of(row) not in FAST], ids=name_of)
def test_every_proved_value_is_reproduced(row: dict[str, Any]) -> None:
    """By one of the two solvers at least, in a time that is generous for a busy machine."""
    problem, _ = contest_of(row, LONG_S, []).compiled()
    unit = Unit.of(problem)
    for solver in SOLVERS.values():
        measured = solver(contest_of(row, LONG_S, []))
        assert measured.value_ns is not None
        assert measured.value_ns >= row["value"] * 1000
        assert measured.bound_ns is None or measured.bound_ns <= row["value"] * 1000
        if measured.status == "optimal":
            assert measured.value_ns == row["value"] * 1000
            assert measured.value_ns % unit.ns == 0
            return
    pytest.fail("neither solver has proved the value")


def _assert_proved(run: Callable[[Contest], Measurement], row: dict[str, Any]) -> None:
    told: list[State] = []
    measured = run(contest_of(row, LONG_S, told))
    assert (measured.status, measured.value_ns, measured.bound_ns) == (
        "optimal",
        row["value"] * 1000,
        row["value"] * 1000,
    )
    assert told[-1].gap == 0.0
    assert all(state.value_ns is None or state.value_ns >= row["value"] * 1000 for state in told)
    assert all(state.bound_ns is None or state.bound_ns <= row["value"] * 1000 for state in told)


def test_messages_on_lanes_are_chained() -> None:
    """The two-site example: 28.3 MB over 100 Gb/s and 15 ms; four microbatches keep it small."""
    row = next(row for row in readme.rows() if row.name == "two-sites-1.5b-32gb")
    contest = _few(row, 3)
    problem, _ = contest.compiled()
    view = stage_view(problem, 1)
    assert view.down[3] == view.up[3] == Message(2_264_000, 15_000_000)
    assert view.down[0] == Message(0, 601_000)
    measured = run_highs(contest)
    assert measured.status == "optimal"
    assert measured.value_ns == _by_bounds(contest)


def _few(row: Row, microbatches: int) -> Contest:
    spec = {**row.spec, "training": {"microbatches": microbatches}}
    return Contest(replace(row, spec=spec).spec, "makespan", LONG_S, 1, lambda _: None)


def _by_bounds(contest: Contest) -> int:
    """The optimum by CrossPipe's own bound and schedule, which meet."""
    from crosspipe import solve

    answer = solve(contest.spec, time_limit_s=30, workers=1)
    assert answer.status == "optimal"
    assert answer.objective.value_ms is not None
    return round(answer.objective.value_ms * 10**6)


def test_a_schedule_fills_every_variable_and_breaks_no_row() -> None:
    from bench.peers.milp import fill_in

    row = next(row for row in readme.rows() if row.name == "two-sites-1.5b-40gb")
    problem, objective = _few(row, 5).compiled()
    unit = Unit.of(problem)
    for family in FAMILIES:
        if family.combined:
            continue
        orders = family.put_to(problem, objective).orders
        if orders is None:
            continue
        schedule, value_ns = judged(problem, orders, objective)
        milp = build(stage_view(problem, unit.ns), objective, value_ns // unit.ns)
        fill_in(milp, problem, schedule, value_ns)
        assert all(variable.varValue is not None for variable in milp.problem.variables())
        assert milp.problem.valid(eps=1e-6)


@pytest.mark.parametrize(
    ("case_id", "rule"),
    [
        ("v_wave-01", "one stage per device"),
        ("variable_microbatch-01", "like microbatches"),
        ("frozen-01", "F, B and W"),
        ("dp_reduce-01", "no extra operations"),
    ],
)
def test_what_the_milp_does_not_know_is_refused(case_id: str, rule: str) -> None:
    problem, _ = Contest(case_to_spec(case_named(case_id)), "makespan", 1.0, 1, lambda _: None).compiled()
    with pytest.raises(UnsuitableError, match=rule):
        stage_view(problem, 1)


def test_a_message_over_two_links_is_refused() -> None:
    sites = {name: {"devices": 1} for name in ("a", "c", "b")}
    links = [{"between": ["a", "b"], "bandwidth_gbps": 8}, {"between": ["b", "c"], "bandwidth_gbps": 8}]
    routed = problem([STAGE | {"boundary_mb": 1}] * 3, 2, sites=sites, links=links)
    with pytest.raises(UnsuitableError, match="one link for every message"):
        stage_view(routed, 1)


def test_memory_taken_by_the_backward_is_seen() -> None:
    problem, _ = Contest(case_to_spec(case_named("b_raises_memory-01")), "makespan", 1.0, 1, lambda _: None).compiled()
    assert any(amounts[Kind.B] > 0 for amounts in stage_view(problem, 1).taken)


def test_the_log_of_cbc_is_read() -> None:
    text = (
        "Cbc0012I Integer solution of 33 found by DiveCoefficient after 0 iterations and 0 nodes (0.25 seconds)\n"
        "Cbc0010I After 100 nodes, 42 on tree, 1e+50 best solution, best possible 27.5 (1.50 seconds)\n"
        "Cbc0010I After 200 nodes, 42 on tree, 33 best solution, best possible 28 (2.50 seconds)\n"
        "Cuts at root node changed objective from 27 to 27.5\n"
    )
    assert states(text, 1.0) == [(1.25, 33.0, None), (2.5, None, 27.5), (3.5, 33.0, 28.0)]
