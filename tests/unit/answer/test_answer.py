"""What an answer says besides its schedule, on specs whose numbers can be added up by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.building import STAGE, spec_data
from tests.solving import assert_sound, solve_here

import crosspipe
from crosspipe import Answer, CrossPipeError, Progress, Spec, SpecError
from crosspipe.answer.solve import check, solve
from crosspipe.answer.summary import summary
from crosspipe.families.registry import FAMILIES, GREEDY
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec

TWO_SITES: dict[str, Any] = {
    "model": {"stages": [STAGE | {"boundary_mb": 1}] * 2},
    "training": {"microbatches": 3},
    "sites": {"east": {"devices": 1, "memory_gb": 0.01}, "west": {"devices": 1, "memory_gb": 0.01}},
    "links": [{"between": ["east", "west"], "bandwidth_gbps": 8, "one_way_latency_ms": 2}],
}
"""One millisecond for each F, B, W and message, two of latency."""

OPTION = STAGE | {"boundary_mb": 1, "recompute_option": {"activation_mb": 0, "recompute_ms": 1}}


def test_the_public_names_are_there_and_typed() -> None:
    assert {"Spec", "solve", "check", "Answer", "SpecError"} <= set(crosspipe.__all__)
    assert set(crosspipe.__all__) <= set(dir(crosspipe))
    for name in crosspipe.__all__:
        assert getattr(crosspipe, name) is not None
    assert crosspipe.solve is solve
    assert issubclass(SpecError, CrossPipeError)
    assert Progress.__name__ == "Progress"
    with pytest.raises(AttributeError, match="no attribute 'solver'"):
        crosspipe.solver  # noqa: B018  # the attribute access is what is tested


def test_every_form_of_a_spec_is_taken() -> None:
    data = spec_data(2, 2)
    answers = [
        solve(source, time_limit_s=0)
        for source in (data, json.dumps(data), json.dumps(data).encode(), Spec.model_validate(data), parse_spec(data))
    ]
    assert len({answer.provenance.digest for answer in answers}) == 1
    assert answers[0].provenance.digest == spec_digest(parse_spec(data))
    assert all(answer.devices == answers[0].devices for answer in answers)


def test_a_schedule_that_can_be_added_up_by_hand() -> None:
    """Two stages, one microbatch: F 1, message 1 + 2, F 1, B 1, message 1 + 2, B 1, W 1 and nothing to overlap."""
    spec = TWO_SITES | {"training": {"microbatches": 1, "sequence_length": 100}}
    answer = solve(spec, time_limit_s=0, deterministic=True)
    assert answer.status == "optimal"
    assert answer.stop_reason == "proved"
    assert answer.makespan_ms == answer.objective.value_ms == answer.objective.lower_bound_ms == 11
    assert answer.span_ms == 11
    assert answer.bubble_ratio == pytest.approx(1 - 6 / 22)
    assert answer.tokens_per_second == pytest.approx(100 / 0.011)
    first, second = answer.devices
    assert (first.device, first.site, first.replica) == ("east/0", "east", 0)
    assert (first.busy_ms, first.idle_ms) == (3, 8)
    assert (first.peak_memory_mb, first.peak_at_ms, first.memory_mb) == (1, 0, 10)
    assert first.operations is not None
    assert first.operations.kind == ["F", "B", "W"]
    assert first.operations.start_ms == [0, 9, 10]
    assert second.operations is not None
    assert second.operations.start_ms == [4, 5, 6]
    out, back = answer.transfers
    assert (out.lane, back.lane) == ("east-west/out", "east-west/back")
    assert out.operations is not None
    assert back.operations is not None
    assert (out.operations.start_ms, out.operations.end_ms, out.operations.arrival_ms) == ([1], [2], [4])
    assert (back.operations.start_ms, back.operations.end_ms, back.operations.arrival_ms) == ([6], [7], [9])
    assert answer.free_links is not None
    assert (answer.free_links.value_ms, answer.free_links.lower_bound_ms) == (5, 5)
    assert answer.free_links.cost == pytest.approx(11 / 5 - 1)
    assert [(hop.boundary, hop.kind, hop.link, hop.transfer_ms, hop.latency_ms) for hop in answer.hops] == [
        (0, "activation", "east-west", 1, 2),
        (0, "gradient", "east-west", 1, 2),
    ]
    assert [(row.stage, row.device, row.site) for row in answer.assignment] == [
        (0, "east/0", "east"),
        (1, "west/0", "west"),
    ]


def test_the_span_is_what_is_bounded_where_it_is_the_objective() -> None:
    answer = solve(TWO_SITES, time_limit_s=0, objective="span")
    assert answer.objective.name == "span"
    assert answer.objective.value_ms == answer.span_ms
    assert answer.makespan_ms is not None
    assert answer.span_ms is not None
    assert answer.span_ms <= answer.makespan_ms
    assert answer.bubble_ratio == pytest.approx(1 - 18 / (2 * answer.span_ms))
    assert_sound(TWO_SITES, answer)


def test_unknown_is_null() -> None:
    answer = solve(spec_data(2, 2), time_limit_s=0)
    assert answer.tokens_per_second is None  # no sequence length
    assert answer.free_links is None  # one site
    assert answer.explanation is None
    assert [device.memory_mb for device in answer.devices] == [None, None]
    text = answer.model_dump_json()
    assert "Infinity" not in text
    assert "NaN" not in text
    assert Answer.model_validate_json(text) == answer


def test_tokens_count_every_replica() -> None:
    """Four replicas of two microbatches of three sequences each."""
    spec = spec_data(2, 2) | {
        "training": {"global_batch": 24, "microbatch": 3, "sequence_length": 10},
        "parallel": {"data": 4},
    }
    answer = solve(spec, time_limit_s=0)
    assert answer.makespan_ms is not None
    assert answer.tokens_per_second == pytest.approx(24 * 10 / (answer.makespan_ms / 1000))
    assert answer.replicas * answer.replicas_merged == 4


@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_every_known_schedule_has_a_value_or_a_reason(objective: str) -> None:
    answer = solve(TWO_SITES, time_limit_s=0, objective=objective)
    assert [row.name for row in answer.families] == [*(family.name for family in FAMILIES), GREEDY]
    for row in answer.families:
        assert row.traversal == answer.traversal
        assert row.fits == (row.reason is None) == (row.value_ms is not None)
    known = [row for row in answer.families if row.fits and row.name != GREEDY]
    best = min(known, key=lambda row: row.value_ms or 0)
    assert answer.best_family == best.name
    assert best.value_ms is not None
    assert answer.objective.value_ms is not None
    assert answer.gain_over_best_family == pytest.approx(1 - answer.objective.value_ms / best.value_ms)


def test_a_known_schedule_that_does_not_fit_says_what_it_needs() -> None:
    spec = TWO_SITES | {"sites": {"east": {"devices": 1, "memory_gb": 0.001}, "west": {"devices": 1}}}
    answer = solve(spec, time_limit_s=0)
    refused = {row.name: row.reason for row in answer.families if not row.fits}
    assert "GPipe" in refused
    assert refused["GPipe"] == "needs 3 activations (3 MB) on east/0, has 1 MB"
    assert_sound(spec, answer)


def test_without_a_known_schedule_there_is_no_gain() -> None:
    """A cap of one microbatch in flight on the first stage: only the greedy keeps it."""
    spec = spec_data(3, 4, limits={"in_flight": 1})
    answer = solve(spec, time_limit_s=0)
    assert answer.status in ("feasible", "optimal")
    assert [row.name for row in answer.families if row.fits] == [GREEDY]
    assert answer.best_family is None
    assert answer.gain_over_best_family is None


def test_detail_levels_add_to_each_other() -> None:
    summary, orders, full = (
        solve(TWO_SITES, time_limit_s=0, deterministic=True, detail=d) for d in ("summary", "orders", "full")
    )
    for plain, more in ((summary, orders), (orders, full)):
        for name in ("objective", "makespan_ms", "families", "assignment", "hops", "free_links"):
            assert getattr(plain, name) == getattr(more, name)
    assert all(device.operations is None for device in summary.devices)
    assert all(lane.operations is None for lane in summary.transfers)
    assert all(device.operations is not None for device in orders.devices)
    assert all(device.memory_curve is None for device in orders.devices)
    assert orders.devices[0].operations == full.devices[0].operations
    assert summary.certificate is not None
    assert summary.certificate.data == {}
    assert orders.certificate is not None
    assert orders.certificate.data != {}
    for device in full.devices:
        curve = device.memory_curve
        assert curve is not None
        assert curve.at_ms == sorted(set(curve.at_ms))
        assert max(curve.memory_mb) == device.peak_memory_mb
        assert curve.at_ms[curve.memory_mb.index(device.peak_memory_mb)] == device.peak_at_ms
        assert curve.memory_mb[-1] == 0  # no static memory here


def test_columns_of_one_device_are_of_one_length_and_in_order() -> None:
    answer = solve(TWO_SITES, time_limit_s=0)
    for device in answer.devices:
        assert device.operations is not None
        columns = device.operations.model_dump().values()
        assert {len(column) for column in columns} == {9}
        assert device.operations.start_ms == sorted(device.operations.start_ms)
    for lane in answer.transfers:
        assert lane.operations is not None
        assert {len(column) for column in lane.operations.model_dump().values()} == {3}


def test_times_are_exact_decimals_of_nanoseconds() -> None:
    spec = spec_data([STAGE | {"forward_ms": 0.123457, "backward_input_ms": 7.000001}] * 2, 3)
    document = json.loads(solve(spec, time_limit_s=0).model_dump_json())
    for device in document["devices"]:
        for times in (device["operations"]["start_ms"], device["operations"]["end_ms"]):
            for time in times:
                assert len(repr(time).partition(".")[2]) <= 6
    assert check(spec, document).ok


def test_one_microbatch_one_stage_one_device() -> None:
    spec = spec_data(1, 1)
    answer = solve(spec, time_limit_s=0)
    assert (answer.status, answer.makespan_ms, answer.bubble_ratio) == ("optimal", 3, 0)
    assert answer.transfers == []
    assert answer.hops == []
    assert_sound(spec, answer)


def test_free_links_of_stages_that_only_forward() -> None:
    """Frozen stages: nothing comes back, the cost of the links is that of one way."""
    frozen = {"forward_ms": 1, "frozen": True, "boundary_mb": 1}
    spec = TWO_SITES | {"model": {"stages": [frozen, frozen]}, "training": {"microbatches": 1}}
    answer = solve(spec, time_limit_s=0, deterministic=True)
    assert answer.makespan_ms == 5
    assert answer.free_links is not None
    assert answer.free_links.value_ms == 2
    assert answer.free_links.cost == 1.5


@pytest.mark.parametrize(
    "more",
    [
        {"parallel": {"data": 2, "replica_messages": "separate"}},
        {"parallel": {"data": 2, "replica_messages": "merged"}},
        {"links": [TWO_SITES["links"][0] | {"closed_ms": [[0, 5], [9, 12]]}]},
        {"links": [TWO_SITES["links"][0] | {"slow_ms": [[0, 30, 4]]}]},
        {"links": [TWO_SITES["links"][0] | {"closed_ms": [[0, 2]], "period_ms": 20, "anchor": "clock"}]},
        {"links": [TWO_SITES["links"][0] | {"duplex": "half"}]},
        {"extra_operations": [{"name": "reduce", "duration_ms": 4, "lane": "east-west/out", "after": [0]}]},
        {
            "model": {
                "stages": [STAGE | {"boundary_mb": 1, "recompute_option": {"activation_mb": 0, "recompute_ms": 1}}] * 2
            }
        },
        {"training": {"microbatches": {"multipliers": [1, 2, 3], "order": "free"}}},
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_free_links_never_cost_less_than_nothing(more: dict[str, Any], objective: str) -> None:
    spec = TWO_SITES | more
    answer = solve(spec, time_limit_s=0, objective=objective, deterministic=True)
    assert_sound(spec, answer)
    free = answer.free_links
    assert free is not None
    assert answer.objective.value_ms is not None
    assert free.lower_bound_ms <= free.value_ms <= answer.objective.value_ms
    assert free.cost is not None
    assert free.cost >= 0


def test_an_infeasible_answer_holds_no_numbers_of_a_schedule() -> None:
    spec = spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.0005}})
    answer = solve(spec, time_limit_s=0)
    assert_sound(spec, answer)
    assert (answer.status, answer.stop_reason) == ("infeasible", "proved")
    assert answer.objective.lower_bound_ms is None
    assert answer.certificate is None
    assert answer.traversal is None
    assert answer.tokens_per_second is None
    assert answer.explanation is not None
    (reason,) = answer.explanation.reasons
    assert (reason.kind, reason.needs, reason.has, reason.unit) == ("memory", 10**6, 500_000, "bytes")
    assert reason.smallest_sufficient == 10**6
    assert answer.explanation.summary == reason.message


def test_two_placements_without_a_schedule_give_every_reason_once() -> None:
    """Four stages on two devices, loop or wave: neither pairing fits, and what both say is said once."""
    stages = [STAGE | {"activation_mb": 4}] * 4
    spec = spec_data(stages, 2, sites={"a": {"devices": 2, "memory_gb": 0.007}})
    answer = solve(spec, time_limit_s=0)
    assert answer.status == "infeasible"
    assert [row.traversal for row in answer.placements] == ["loop", "wave"]
    assert all(row.infeasible and row.value_ms is None and row.lower_bound_ms is None for row in answer.placements)
    assert answer.explanation is not None
    messages = [reason.message for reason in answer.explanation.reasons]
    assert len(messages) == len(set(messages)) >= 1
    assert all("7" in message and "8" in message for message in messages)


def test_what_the_solver_alone_refutes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for one microbatch at a time and a deadline for two: each can be kept, not both."""
    spec = spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.001}}, limits={"deadline_ms": 7})
    for alone in ({"limits": {}}, {"sites": {"a": {"devices": 2}}}):
        assert solve_here(monkeypatch, spec | alone, time_limit_s=60).status == "optimal"
    answer = solve_here(monkeypatch, spec, time_limit_s=60)
    assert_sound(spec, answer)
    assert (answer.status, answer.stop_reason) == ("infeasible", "proved")
    assert answer.explanation is not None
    assert answer.explanation.summary


def test_nothing_found_in_time_is_unknown_not_infeasible() -> None:
    """As above, but without time to refute it."""
    spec = spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.001}}, limits={"deadline_ms": 7})
    answer = solve(spec, time_limit_s=0)
    if answer.status == "infeasible":  # a sharper obstacle may come to see it at once: then it must say why
        assert answer.explanation is not None
        assert answer.explanation.reasons
        return
    assert_sound(spec, answer)
    assert (answer.status, answer.stop_reason) == ("unknown", "time_limit")
    assert answer.objective.lower_bound_ms is not None
    assert answer.certificate is not None


def test_notes_say_what_is_not_yet_optimised() -> None:
    plain = solve(TWO_SITES, time_limit_s=0)
    link = TWO_SITES["links"][0]
    slow = solve(TWO_SITES | {"links": [link | {"slow_ms": [[0, 30, 4]]}]}, time_limit_s=0)
    clock = link | {"closed_ms": [[0, 2]], "period_ms": 20, "anchor": "clock"}
    robust = solve(TWO_SITES | {"links": [clock]}, time_limit_s=0)
    merged = solve(TWO_SITES | {"parallel": {"data": 3}}, time_limit_s=0)
    choice = solve(TWO_SITES | {"model": {"stages": [OPTION] * 2}}, time_limit_s=0)
    for answer, word in ((slow, "slower"), (robust, "phase"), (merged, "3 replicas"), (choice, "recompute options")):
        assert any(word in note for note in answer.notes)
        assert not any(word in note for note in plain.notes)
    assert plain.notes[-1].startswith("activation memory is taken at the start of F")


LAYER: dict[str, Any] = {"forward_ms": 1, "backward_input_ms": 1, "backward_weight_ms": 1, "static_mb": 5}


def test_what_was_chosen_before_the_search_is_said_of_a_refusal_too() -> None:
    """A device has no room for any layer."""
    spec: dict[str, Any] = {
        "model": {"layers": [LAYER | {"name": name} for name in "abc"]},
        "training": {"microbatches": 2},
        "sites": {"small": {"devices": 1, "memory_gb": 0.004}, "large": {"devices": 1, "memory_gb": 0.011}},
        "links": [{"between": ["small", "large"], "one_way_latency_ms": 1}],
    }
    answer = solve(spec | {"placement": {"layers_per_stage": "even"}}, time_limit_s=0)
    words = "chosen by rule, not searched over: the cut of the layers into stages, placement.stages_per_device = 1"
    assert answer.notes[0].startswith(f"{words}; "), "devices leave no degree to choose"
    assert answer.status == "infeasible"
    assert summary(answer)[-1].startswith(words)
    measured = solve(TWO_SITES, time_limit_s=0)
    assert not any("chosen by rule" in note for note in measured.notes)
    named = Spec.model_validate(
        {
            "model": "llama-3-8b",
            "training": {"global_batch": 64, "microbatch": 1, "sequence_length": 4096},
            "sites": {"a": {"gpus": 64, "gpu": "h100-80gb"}},
        }
    )
    (note, *_) = solve(named, time_limit_s=0).notes
    assert "parallel.tensor = 8" in note


def test_warnings_carry_a_pointer() -> None:
    spec = TWO_SITES | {"links": [{"between": ["east", "west"], "bandwidth_gbps": 8, "one_way_latency_ms": 400}]}
    warnings = solve(spec, time_limit_s=0).warnings
    assert warnings
    assert any(notice.pointer.startswith("/links/0") for notice in warnings)
    assert all(notice.code and notice.message for notice in warnings)


def test_provenance_names_everything_needed_to_repeat_a_solve() -> None:
    answer = solve(TWO_SITES, time_limit_s=0, seed=7, workers=3, deterministic=True)
    told = answer.provenance
    assert (told.seed, told.workers, told.deterministic, told.time_limit_s) == (7, 3, True, 0)
    assert told.crosspipe_version == crosspipe.__version__
    assert told.ortools_version.startswith("9.")
    assert told.python_version.count(".") == 2
    assert told.schedule_from in {GREEDY, *(family.name for family in FAMILIES)}
    assert told.seconds >= 0
    assert told.history


def test_the_certificate_is_the_bound() -> None:
    answer = solve(TWO_SITES, time_limit_s=0)
    assert answer.certificate is not None
    assert answer.certificate.bound_ms == answer.objective.lower_bound_ms
    assert answer.objective.bound_from == f"{answer.certificate.name}: {answer.certificate.where}"


def test_recompute_options_taken_are_named_and_restored() -> None:
    """The activation fits once only: recomputing is the way to keep two."""
    option = STAGE | {"activation_mb": 4, "recompute_option": {"activation_mb": 1, "recompute_ms": 1}}
    spec = spec_data([option, option], 4, sites={"a": {"devices": 2, "memory_gb": 0.003}})
    answer = solve(spec, time_limit_s=0)
    assert answer.recomputed_stages == [0, 1]
    assert_sound(spec, answer)


@pytest.mark.parametrize("bad", [5, None, [], "", "- a", b"\xff\xfe\x00", {"model": {}}, "model: [", object()])
def test_nonsense_is_refused_as_a_spec(bad: Any) -> None:
    with pytest.raises(SpecError):
        solve(bad, time_limit_s=0)
    with pytest.raises(SpecError):
        check(bad, {"operations": []})
