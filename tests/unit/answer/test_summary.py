from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, spec_data
from tests.property.random_specs import random_spec

from crosspipe.answer.solve import solve
from crosspipe.answer.summary import MOST_LINES, best_family, ms, percent, summary

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer


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
