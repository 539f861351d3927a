from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, spec_data
from tests.property.random_specs import random_spec

from crosspipe.answer.models import FreeLinks
from crosspipe.answer.solve import solve
from crosspipe.answer.summary import MOST_LINES, best_family, ms, percent, summary

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer

TWO = {"a": {"devices": 1}, "b": {"devices": 1}}


def construct(spec: dict[str, Any], **options: Any) -> Answer:
    return solve(spec, time_limit_s=0, deterministic=True, **options)


def line(answer: Answer, word: str) -> str:
    (found,) = [text for text in summary(answer) if text.startswith(word)]
    return found


def test_numbers_for_people() -> None:
    assert (ms(1234.56), ms(0), ms(None)) == ("1,234.6 ms", "0.0 ms", "unknown")
    assert (percent(0.12345), percent(0), percent(None)) == ("12.35 %", "0.00 %", "unknown")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("detail", ["summary", "orders", "full"])
def test_a_summary_has_at_most_25_lines(seed: int, detail: str) -> None:
    lines = summary(construct(random_spec(seed), detail=detail))
    assert 3 <= len(lines) <= MOST_LINES == 25
    assert all("\n" not in text and "None" not in text and "nan" not in text and "inf " not in text for text in lines)


def test_many_devices_and_warnings_still_fit() -> None:
    sites = {f"s{i}": {"devices": 2, "hop_latency_ms": 900} for i in range(8)}
    links = [{"between": [f"s{i}", f"s{i + 1}"], "one_way_latency_ms": 700 + i} for i in range(7)]
    answer = construct(spec_data(16, 4, sites=sites, links=links))
    assert len(answer.warnings) > 3
    assert len(summary(answer)) <= MOST_LINES


def test_the_first_line_says_what_is_proved() -> None:
    proved = construct(spec_data(1, 2))
    assert summary(proved)[0].startswith("OPTIMAL  makespan 6.0 ms   [proved, ")
    feasible = proved.model_copy(
        update={
            "status": "feasible",
            "stop_reason": "time_limit",
            "objective": proved.objective.model_copy(update={"lower_bound_ms": 4.5, "gap": 0.25}),
        }
    )
    assert summary(feasible)[0].startswith("FEASIBLE makespan 6.0 ms, no schedule can beat 4.5 ms (gap 25.00 %)")


def test_a_chart_shows_what_each_device_does() -> None:
    lines = summary(construct(spec_data(2, 1)))
    assert "█ F  ▓ B  ░ W  · idle, 0 to 5.0 ms" in lines[-3]
    name, bar = lines[-2].split(" ")
    assert name == "a/0"
    assert len(bar) == 64
    assert set(bar[:12]) == {"█"}
    assert set(bar[13:38]) == {"·"}
    assert set(bar[39:51]) == {"▓"}
    assert set(bar[52:]) == {"░"}


def test_a_replica_shows_once() -> None:
    spec = spec_data(2, 2, parallel={"data": 2, "replica_messages": "separate"})
    answer = construct(spec)
    assert len(answer.devices) == 4
    assert [text.split(" ")[0] for text in summary(answer)[-2:]] == ["a/0", "a/1"]


def test_the_fullest_device_is_the_one_nearest_its_limit() -> None:
    stages = [STAGE | {"activation_mb": 5000}, STAGE | {"activation_mb": 1000}]
    sites = {"a": {"devices": 1, "memory_gb": 100}, "b": {"devices": 1, "memory_gb": 1.5}}
    links = [{"between": ["a", "b"], "one_way_latency_ms": 0}]
    answer = construct(spec_data(stages, 3, sites=sites, links=links))
    assert line(answer, "memory") == "memory   1.0 of 1.5 GB on b/0, the fullest device"


def test_stages_that_recompute_are_counted() -> None:
    """An activation of the first stage is 1 MB, or 0.5 MB where it recomputes; there is room for 0.9 MB."""
    option = {"activation_mb": 0.5, "recompute_ms": 0.1}
    sites = {"a": {"devices": 2, "memory_gb": 0.0009}}
    answer = construct(
        spec_data([STAGE | {"recompute_option": option}, STAGE | {"activation_mb": 0.1}], 2, sites=sites)
    )
    assert answer.recomputed_stages == [0]
    assert line(answer, "memory").endswith(", the fullest device; 1 of 2 stages recompute")


def test_without_limits_the_fullest_device_holds_most() -> None:
    stages = [STAGE | {"activation_mb": 1}, STAGE | {"activation_mb": 9000}]
    answer = construct(spec_data(stages, 1))
    assert line(answer, "memory") == "memory   9.0 GB on a/1, the fullest device"


def test_the_best_known_schedule_counts_whichever_placement_it_is_on() -> None:
    answer = construct(spec_data(4, 4, sites={"a": {"devices": 2, "hop_latency_ms": 5}}))
    assert answer.traversal == "wave"
    best = best_family(answer)
    assert best is not None
    rows = [row.value_ms for row in answer.families if row.fits and row.name != "greedy"]
    assert best.value_ms == min(value for value in rows if value is not None)
    assert f"{best.name} {ms(best.value_ms)}" in line(answer, "against")
    assert percent(answer.gain_over_best_family) in line(answer, "against")


def test_free_links_are_told_as_exactly_as_they_are_known() -> None:
    answer = construct(spec_data(2, 2, sites=TWO, links=[{"between": ["a", "b"], "one_way_latency_ms": 5}]))
    free = FreeLinks(value_ms=10, lower_bound_ms=10, cost=0.5)
    cases = [
        ("optimal", free, "10.0 ms: the network costs 50.00 %"),
        (
            "optimal",
            free.model_copy(update={"lower_bound_ms": 9}),
            "10.0 ms or less: the network costs 50.00 % or more",
        ),
        ("feasible", free, "10.0 ms: the network costs 50.00 % so far"),
    ]
    for status, links, said in cases:
        told = line(answer.model_copy(update={"status": status, "free_links": links}), "links")
        assert told == f"links    free links would give {said}"


def test_a_trap_that_two_rooms_see_is_told_once() -> None:
    """A hop of 101 forwards shows in the spec and in the expanded numbers; a slow site shows in the latter alone."""
    sites = {"a": {"devices": 1}, "b": {"devices": 2, "hop_latency_ms": 50}}
    link = {"between": ["a", "b"], "one_way_latency_ms": 101}
    answer = construct(
        spec_data([STAGE | {"backward_weight_ms": 2, "boundary_mb": 1}] * 3, 2, sites=sites, links=[link])
    )
    assert [(n.code, n.pointer) for n in answer.warnings] == [
        ("hop_above_ten_forwards", "/links/0"),
        ("hop_above_ten_forwards", "/sites/b"),
    ]


def test_the_slowest_message_is_told() -> None:
    """1 MB at 4 Gb/s takes 2 ms, and flies 5 ms."""
    link = {"between": ["a", "b"], "bandwidth_gbps": 4, "one_way_latency_ms": 5}
    answer = construct(spec_data([STAGE | {"boundary_mb": 1}] * 2, 2, sites=TWO, links=[link]))
    assert line(answer, "message") == "message  2.0 ms on a-b, then 5.0 ms in flight: the slowest"
    assert not any(text.startswith("message") for text in summary(construct(spec_data(2, 2))))


def test_the_worst_phase_of_a_clock_is_told() -> None:
    """2 ms of transfer asked for just too late to end before 3 closed ms: 2 + 3 + 2."""
    link = {"between": ["a", "b"], "bandwidth_gbps": 8, "period_ms": 10, "closed_ms": [[0, 3]], "anchor": "clock"}
    answer = construct(spec_data([STAGE | {"boundary_mb": 2}] * 2, 1, sites=TWO, links=[link]))
    assert line(answer, "clock") == (
        "clock    2.0 ms on a-b/out reserve 7.0 ms, as in the worst phase, 8.0 ms into the period of 10.0 ms"
    )
    once = construct(spec_data([STAGE | {"boundary_mb": 2}] * 2, 1, sites=TWO, links=[link | {"anchor": "iteration"}]))
    assert not any(text.startswith("clock") for text in summary(once))


def test_what_was_cut_and_copied_is_told() -> None:
    layers = [
        {"name": "first", "forward_ms": 1, "backward_ms": 2},
        {"name": "l", "repeat": 3, "forward_ms": 1, "backward_ms": 2},
    ]
    answer = construct(spec_data(2, 2, model={"layers": layers}, parallel={"data": 3}))
    assert line(answer, "placed") == "placed   2 stages on 2 devices, 3 replicas: first, l 0 | l 1-2"
    assert not any(text.startswith("placed") for text in summary(construct(spec_data(2, 2))))
    many = construct(spec_data(40, 1, model={"layers": [{"forward_ms": 1, "backward_ms": 2, "repeat": 80}]}))
    assert len(line(many, "placed")) <= 102
    assert line(many, "placed").endswith(" ...")


def test_without_a_known_schedule_that_fits_none_is_told() -> None:
    answer = construct(spec_data(2, 2)).model_copy(update={"best_family": None, "gain_over_best_family": None})
    assert line(answer, "against") == "against  no known schedule: none fits"


def test_the_letters_of_a_chart_are_those_of_the_spec() -> None:
    combined = construct(spec_data([{"forward_ms": 1, "backward_ms": 2}] * 2, 2))
    assert any("▓ BW  ░ W" in text for text in summary(combined))
    both = construct(spec_data([STAGE, {"forward_ms": 1, "backward_ms": 2}], 2))
    assert any("▓ B or BW  ░ W" in text for text in summary(both))


def test_a_column_busy_for_half_its_time_is_not_drawn_idle() -> None:
    """256 microbatches make columns of many operations; each is drawn as the most frequent kind, never as idle."""
    answer = construct(spec_data(1, 256))
    assert "·" not in summary(answer)[-1].split(" ", 1)[1]


def test_a_refusal_gives_its_reasons() -> None:
    answer = construct(spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.0005}}))
    assert answer.explanation is not None
    lines = summary(answer)
    assert lines[0] == "INFEASIBLE: no schedule exists"
    assert lines[1:] == [f"- {reason.message}" for reason in answer.explanation.reasons]


def test_many_reasons_still_fit() -> None:
    answer = construct(spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.0005}}))
    assert answer.explanation is not None
    many = answer.explanation.model_copy(update={"reasons": answer.explanation.reasons * 60})
    assert len(summary(answer.model_copy(update={"explanation": many}))) <= MOST_LINES


def test_no_schedule_in_time_is_said_plainly() -> None:
    answer = construct(spec_data(1, 1))
    unknown = answer.model_copy(
        update={
            "status": "unknown",
            "stop_reason": "time_limit",
            "objective": answer.objective.model_copy(update={"value_ms": None, "gap": None}),
            "makespan_ms": None,
            "bubble_ratio": None,
            "devices": [],
            "best_family": None,
            "gain_over_best_family": None,
        }
    )
    lines = summary(unknown)
    assert lines[0].startswith("UNKNOWN  no schedule was found; none can beat 3.0 ms   [time_limit, ")
    assert not any("█" in text for text in lines)
