"""Each rule of the checker on problems small enough to judge by eye."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.checker.drafts import Draft, array, place

from crosspipe.checker.check import check
from crosspipe.checker.placed import Placed
from crosspipe.checker.report import Peak, Violation, ViolationKind, in_ms
from crosspipe.problem.links import Hop, Lane, Window
from crosspipe.problem.operations import Kind, RecomputeChoice
from crosspipe.problem.problem import Pool

MS = 10**6


def kinds(violations: tuple[Violation, ...]) -> list[str]:
    return [violation.kind.value for violation in violations]


def one_device(*durations: int, **fields: object) -> Draft:
    """F of so many microbatches on device 0."""
    draft = Draft(**fields)  # type: ignore[arg-type]  # keywords of Draft
    for microbatch, duration in enumerate(durations):
        draft.add(Kind.F, 0, microbatch, duration, 0)
    return draft


def two_stages() -> Draft:
    """F and BW on two devices, one microbatch, 3 ns on each lane and 2 ns of latency."""
    draft = Draft(lanes=[Lane("l/out", "l", None), Lane("l/back", "l", None)])
    f0 = draft.add(Kind.F, 0, 0, 5, 0)
    f1 = draft.add(Kind.F, 1, 0, 5, 1)
    sent = draft.add(Kind.ACTIVATION, 0, 0, 3, 2)
    b1 = draft.add(Kind.BW, 1, 0, 5, 1)
    b0 = draft.add(Kind.BW, 0, 0, 5, 0)
    back = draft.add(Kind.GRADIENT, 0, 0, 3, 3)
    draft.precedences += [(f0, sent, 0), (sent, f1, 2), (f1, b1, 0), (b1, back, 0), (back, b0, 2)]
    return draft


GOOD = {0: 0, 2: 5, 1: 10, 3: 15, 5: 20, 4: 25}


def test_a_correct_schedule_has_no_violation_and_exact_measures() -> None:
    problem = two_stages().problem()
    report = check(problem, place(problem, GOOD))
    assert report.ok
    assert report.violations == ()
    assert (report.makespan_ns, report.span_ns) == (30, 30)


def test_span_counts_compute_only_and_makespan_everything() -> None:
    draft = one_device(4, 4)
    draft.once("reduce", 50, 0)
    problem = draft.problem()
    report = check(problem, place(problem, {0: 2, 1: 6, 2: 10}))
    assert report.ok
    assert (report.makespan_ns, report.span_ns) == (60, 8)


def test_missing_operations_are_each_named_and_leave_the_measures_unknown() -> None:
    problem = two_stages().problem()
    report = check(problem, place(problem, {0: 0, 2: 5, 1: 10}))
    assert kinds(report.violations) == ["missing"] * 3
    assert report.violations[0].operations == ("BW of stage 1, microbatch 0",)
    assert report.violations[0].where == "d1"
    assert report.violations[2].where == "l/back"
    assert report.makespan_ns is None
    assert report.span_ns is None


def test_an_empty_schedule_misses_everything() -> None:
    problem = two_stages().problem()
    assert kinds(check(problem, []).violations) == ["missing"] * 6


@pytest.mark.parametrize(
    "row",
    [
        Placed(Kind.W, 0, 0, 0, 0),
        Placed(Kind.F, -1, 0, 0, 0),
        Placed(Kind.F, 0, 10**30, 0, 0),
        Placed(Kind.F, 0, 0, 1, 0),
        Placed(Kind.EXTRA, -1, 0, 0, 0, name="reduce"),
        Placed(Kind.EXTRA, -1, 0, 0, 0),
    ],
)
def test_an_unknown_operation_is_told(row: Placed) -> None:
    problem = two_stages().problem()
    report = check(problem, [*place(problem, GOOD), row])
    assert kinds(report.violations) == ["unknown"]
    assert report.violations[0].operations == (row.label,)


def test_a_duplicate_is_told_and_the_first_row_is_judged() -> None:
    problem = two_stages().problem()
    report = check(problem, [*place(problem, GOOD), *place(problem, {0: 90})])
    assert kinds(report.violations) == ["duplicate"]
    assert report.violations[0].at_ns == 90
    assert report.makespan_ns == 30


def test_an_extra_operation_is_known_by_its_name_alone() -> None:
    draft = one_device(1)
    draft.once("reduce", 5)
    problem = draft.problem()
    rows = [*place(problem, {0: 0}), Placed(Kind.EXTRA, 7, 7, 7, 1, name="reduce")]
    assert check(problem, rows).ok


def test_a_negative_start_is_told_with_its_amount() -> None:
    problem = one_device(5).problem()
    (violation,) = check(problem, place(problem, {0: -3})).violations
    assert (violation.kind, violation.at_ns, violation.amount) == (ViolationKind.NEGATIVE_START, -3, 3)


def test_a_resource_claim_must_match() -> None:
    draft = one_device(5)
    draft.once("reduce", 5)
    problem = draft.problem()
    rows = place(problem, {0: 0, 1: 0})
    assert check(problem, [replace(rows[0], resource=0), replace(rows[1], resource=-1)]).ok
    for claim in (1, -1, 99):
        (violation,) = check(problem, [replace(rows[0], resource=claim), rows[1]]).violations
        assert violation.kind is ViolationKind.WRONG_RESOURCE
        assert "belongs on d0" in violation.message


@pytest.mark.parametrize("end", [4, 6])
def test_a_claimed_end_must_match_and_later_work_is_held_against_the_true_one(end: int) -> None:
    problem = one_device(5, 5).problem()
    first, second = place(problem, {0: 0, 1: 4})
    report = check(problem, [replace(first, end_ns=end), replace(second, end_ns=9)])
    assert kinds(report.violations) == ["duration", "overlap_device"]
    assert report.violations[0].amount == 1
    assert report.makespan_ns == 9


def test_back_to_back_is_no_overlap() -> None:
    problem = one_device(5, 5).problem()
    assert check(problem, place(problem, {0: 5, 1: 0})).ok


def test_every_operation_inside_a_long_one_is_told() -> None:
    problem = one_device(10, 2, 2).problem()
    report = check(problem, place(problem, {0: 0, 1: 1, 2: 7}))
    assert kinds(report.violations) == ["overlap_device"] * 2
    assert [violation.amount for violation in report.violations] == [2, 2]
    assert report.violations[1].operations == ("F of stage 0, microbatch 0", "F of stage 0, microbatch 2")
    assert report.violations[1].where == "d0"


@pytest.mark.parametrize(("start", "breach"), [(0, False), (10, False), (5, True)])
def test_no_duration_may_touch_but_not_interrupt(start: int, *, breach: bool) -> None:
    problem = one_device(10, 0, 0).problem()
    report = check(problem, place(problem, {0: 0, 1: start, 2: start}))
    assert kinds(report.violations) == ["overlap_device"] * (2 if breach else 0)


def test_lanes_overlap_like_devices_but_no_duration_never_queues() -> None:
    draft = Draft(devices=["d0"], lanes=[Lane("l", "l", None)])
    draft.once("a", 10, 1)
    draft.once("b", 10, 1)
    draft.once("c", 0, 1)
    problem = draft.problem()
    (violation,) = check(problem, place(problem, {0: 0, 1: 9, 2: 5})).violations
    assert (violation.kind, violation.where) == (ViolationKind.OVERLAP_LINK, "l")


def test_two_operations_on_nothing_may_overlap() -> None:
    draft = Draft()
    draft.once("a", 10)
    draft.once("b", 10)
    problem = draft.problem()
    assert check(problem, place(problem, {0: 0, 1: 0})).ok


@pytest.mark.parametrize(
    ("number", "start", "early"),
    [(2, 4, 1), (1, 9, 1), (3, 12, 3), (5, 0, 20), (4, 24, 1)],
    ids=["sent early", "latency ignored", "B before F", "gradient sent early", "gradient arrives late"],
)
def test_starting_before_what_is_needed_is_told(number: int, start: int, early: int) -> None:
    problem = two_stages().problem()
    report = check(problem, place(problem, {**GOOD, number: start}))
    found = [v for v in report.violations if v.kind is ViolationKind.DEPENDENCY and v.at_ns == start]
    assert [violation.amount for violation in found] == [early]
    assert found[0].operations[1] == problem.label(number)


def test_a_missing_route_is_told_whatever_is_placed() -> None:
    draft = one_device(5)
    draft.hops.append(Hop(0, Kind.GRADIENT, 1, 0, missing=True))
    problem = draft.problem()
    (violation,) = check(problem, place(problem, {0: 0})).violations
    assert (violation.kind, violation.where) == (ViolationKind.ROUTE, "d1 to d0")


def held(capacity: int | None, base: int = 0, unit: str = "bytes") -> Draft:
    """Two microbatches that each hold 4 from F to the end of B on one device."""
    draft = Draft(pools=[Pool("memory", unit, 0, capacity, base)])
    for microbatch in range(2):
        forward = draft.add(Kind.F, 0, microbatch, 2, 0)
        backward = draft.add(Kind.BW, 0, microbatch, 2, 0)
        draft.holdings.append((0, forward, backward, 4))
    return draft


def test_memory_given_back_at_a_moment_is_free_at_that_moment() -> None:
    problem = held(7, base=3).problem()
    report = check(problem, place(problem, {0: 0, 1: 2, 2: 4, 3: 6}))
    assert report.ok
    assert report.peaks == (Peak("memory", "d0", "bytes", 7, 7, 0),)


@pytest.mark.parametrize(("unit", "kind"), [("bytes", "memory"), ("microbatches", "in_flight")])
def test_one_over_the_limit_is_told_once_per_stretch(unit: str, kind: str) -> None:
    problem = held(7, unit=unit).problem()
    report = check(problem, place(problem, {0: 0, 2: 2, 1: 4, 3: 6}))
    (violation,) = report.violations
    assert (violation.kind.value, violation.at_ns, violation.amount) == (kind, 2, 1)
    assert violation.operations == ("F of stage 0, microbatch 1",)
    assert report.peaks[0].amount == 8
    assert report.peaks[0].at_ns == 2


def test_what_is_always_held_may_itself_be_too_much() -> None:
    problem = held(7, base=9).problem()
    (violation,) = check(problem, place(problem, {0: 0, 1: 2, 2: 4, 3: 6})).violations
    assert (violation.kind, violation.at_ns, violation.amount) == (ViolationKind.MEMORY, 0, 6)
    assert violation.operations == ()


def test_two_stretches_over_the_limit_are_two_violations() -> None:
    problem = held(3).problem()
    report = check(problem, place(problem, {0: 0, 1: 2, 2: 5, 3: 7}))
    assert [(v.at_ns, v.amount) for v in report.violations] == [(0, 1), (5, 1)]


def test_without_a_capacity_only_the_peak_is_told() -> None:
    problem = held(None).problem()
    report = check(problem, place(problem, {0: 0, 2: 2, 1: 4, 3: 6}))
    assert report.ok
    assert report.peaks[0] == Peak("memory", "d0", "bytes", None, 8, 2)


def test_a_holding_without_its_end_is_left_to_the_rule_that_is_broken() -> None:
    problem = held(7).problem()
    assert kinds(check(problem, place(problem, {0: 0, 2: 2, 3: 4})).violations) == ["missing"]


def test_large_amounts_do_not_overflow() -> None:
    draft = held(2**62)
    draft.holdings = [(0, 0, 1, 2**62), (0, 2, 3, 2**62)]
    problem = draft.problem()
    report = check(problem, place(problem, {0: 0, 2: 2, 1: 4, 3: 6}))
    assert kinds(report.violations) == ["memory"]
    assert report.peaks[0].amount == 2**63


def test_a_fixed_order_binds_starts_and_every_straggler_is_told() -> None:
    draft = one_device(1, 1, 1, chains=[[0, 1, 2]], chains_required=True)
    problem = draft.problem()
    assert check(problem, place(problem, {0: 0, 1: 1, 2: 2})).ok
    report = check(problem, place(problem, {0: 5, 1: 0, 2: 1}))
    assert kinds(report.violations) == ["order", "order"]
    assert [violation.amount for violation in report.violations] == [5, 4]
    assert report.violations[1].operations == ("F of stage 0, microbatch 0", "F of stage 0, microbatch 2")


def test_identical_microbatches_need_no_order() -> None:
    problem = one_device(1, 1, chains=[[0, 1]]).problem()
    assert check(problem, place(problem, {0: 5, 1: 0})).ok


def test_a_deadline_binds_the_end() -> None:
    problem = one_device(4, 4, due={1: 8}).problem()
    assert check(problem, place(problem, {0: 0, 1: 4})).ok
    (violation,) = check(problem, place(problem, {0: 0, 1: 5})).violations
    assert (violation.kind, violation.at_ns, violation.amount) == (ViolationKind.DEADLINE, 9, 1)


def test_a_closed_window_binds_transfers_in_progress() -> None:
    draft = Draft(lanes=[Lane("l/out", "l", None, 1, (Window(10, 20, 0),))])
    draft.add(Kind.ACTIVATION, 0, 0, 4, 2)
    problem = draft.problem()
    for start in (0, 6, 20):
        assert check(problem, place(problem, {0: start})).ok
    for start, first, inside in ((7, 10, 1), (12, 12, 4), (19, 19, 1)):
        (violation,) = check(problem, place(problem, {0: start})).violations
        assert (violation.kind, violation.at_ns, violation.amount) == (ViolationKind.WINDOW, first, inside)
        assert violation.where == "l/out"


def test_a_slow_window_stretches_the_transfer_and_the_claimed_end_with_it() -> None:
    draft = Draft(lanes=[Lane("l/out", "l", None, 10, (Window(10, 20, 3),))])
    draft.add(Kind.ACTIVATION, 0, 0, 4, 2)
    problem = draft.problem()
    (row,) = place(problem, {0: 8})
    # 2 ns at 10, then 20 units at 3 per ns: 6.67 ns.
    assert check(problem, [replace(row, end_ns=17)]).ok
    assert kinds(check(problem, [replace(row, end_ns=16)]).violations) == ["duration"]


def recomputable() -> Draft:
    draft = held(5)
    draft.choices.append(RecomputeChoice(0, array([1, 3]), array([3, 3]), array([0, 1]), array([1, 1])))
    return draft


def test_recomputed_stages_are_judged_by_their_option() -> None:
    problem = recomputable().problem()
    rows = place(problem, {0: 0, 2: 2, 1: 4, 3: 7})
    assert check(problem, rows, frozenset({0})).ok
    assert kinds(check(problem, rows).violations) == ["memory"]
    assert check(problem.recompute(frozenset({0})), rows).ok
    assert check(problem.recompute(frozenset({0})), rows, frozenset({0})).ok


def test_a_stage_without_an_option_cannot_be_recomputed() -> None:
    problem = recomputable().problem()
    with pytest.raises(ValueError, match="stage 1 has no recompute option"):
        check(problem, [], frozenset({1}))


def test_all_breaches_are_reported_together() -> None:
    problem = two_stages().problem()
    rows = [*place(problem, {0: -1, 1: 0, 3: 2, 5: 0, 4: 2}), Placed(Kind.F, 9, 0, 0, 0)]
    found = set(kinds(check(problem, rows).violations))
    assert found == {"missing", "unknown", "negative_start", "overlap_device", "dependency"}


def test_replicas_are_named() -> None:
    draft = Draft(devices=["d0"], replicas=2)
    draft.add(Kind.F, 0, 0, 5, 0)
    draft.add(Kind.F, 0, 0, 5, 1, replica=1)
    problem = draft.problem()
    assert check(problem, place(problem, {0: 0, 1: 0})).ok
    (violation,) = check(problem, place(problem, {0: 0})).violations
    assert violation.operations == ("F of stage 0, microbatch 0, replica 1",)
    assert violation.where == "d0 (replica 1)"


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(0, "0 ms"), (MS, "1 ms"), (-1500000, "-1.5 ms"), (1, "0.000001 ms"), (10**40, f"{10**34} ms")],
)
def test_times_are_written_exactly(time_ns: int, text: str) -> None:
    assert in_ms(time_ns) == text
