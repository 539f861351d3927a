"""One library behind three doors: Python, the command line and HTTP say the same of the same spec."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.building import spec_data
from tests.golden.cases import case_named, expected
from tests.golden.mapping import case_to_spec, unit_ns
from tests.service.serving import ServiceClient, serving
from tests.solving import assert_sound
from typer.testing import CliRunner

from crosspipe.answer.models import Answer
from crosspipe.answer.solve import check, solve
from crosspipe.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROVED = ["latency_memory-02", "shared_wan-01", "span-06", "variable_microbatch-12", "mixed-04"]


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceClient]:
    with serving() as client:
        yield client


def through_python(spec: dict[str, Any], **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(solve(spec, **options).model_dump_json())
    return found


def through_command_line(folder: Path, spec: dict[str, Any], exit_code: int = 0, **options: Any) -> dict[str, Any]:
    path = folder / "spec.json"
    path.write_text(json.dumps(spec))
    arguments = ["--time-limit", options["time_limit_s"], "--objective", options.get("objective", "makespan")]
    result = CliRunner().invoke(app, ["solve", str(path), "--format", "json", *map(str, arguments)])
    assert result.exit_code == exit_code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def through_http(client: ServiceClient, spec: dict[str, Any], **options: Any) -> dict[str, Any]:
    response = client.post("/v1/schedules", json=spec, params=options)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


@pytest.mark.parametrize("case_id", PROVED)
def test_a_proved_value_is_the_same_through_every_door(case_id: str, service: ServiceClient, tmp_path: Path) -> None:
    case = case_named(case_id)
    spec, options = case_to_spec(case), {"time_limit_s": 50, "objective": case["objective"]}
    answers = [
        through_python(spec, **options),
        through_command_line(tmp_path, spec, **options),
        through_http(service, spec, **options),
    ]
    for answer in answers:
        assert (answer["status"], answer["stop_reason"]) == ("optimal", "proved")
        assert round(answer["objective"]["value_ms"] * 10**6) == expected(case) * unit_ns(case)
        assert_sound(spec, Answer.model_validate(answer))
        answer["objective"].pop("bound_from")  # whichever argument met the value first
    for name in ("objective", "assignment", "traversal", "notes", "warnings", "hops"):
        assert all(answer[name] == answers[0][name] for answer in answers)
    assert len({answer["provenance"]["digest"] for answer in answers}) == 1


@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_a_construction_is_the_same_through_every_door(objective: str, service: ServiceClient, tmp_path: Path) -> None:
    spec = spec_data(4, 6, sites={"a": {"devices": 4, "memory_gb": 0.003, "hop_latency_ms": 2.5}})
    options: dict[str, Any] = {"time_limit_s": 0, "objective": objective}
    one, other, third = (
        through_python(spec, **options),
        through_command_line(tmp_path, spec, **options),
        through_http(service, spec, **options),
    )
    assert one.keys() == other.keys() == third.keys()
    for name in one.keys() - {"provenance"}:
        assert one[name] == other[name] == third[name], name


def test_a_refusal_is_the_same_through_every_door(service: ServiceClient, tmp_path: Path) -> None:
    spec = spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.0005}})
    one = through_python(spec, time_limit_s=0)
    other = through_command_line(tmp_path, spec, exit_code=3, time_limit_s=0)
    third = through_http(service, spec, time_limit_s=0)
    assert one["status"] == "infeasible"
    assert one["explanation"] == other["explanation"] == third["explanation"]


def test_a_schedule_is_judged_the_same_through_every_door(service: ServiceClient, tmp_path: Path) -> None:
    spec = spec_data(3, 3)
    good = through_python(spec, time_limit_s=0)
    bad = json.loads(json.dumps(good))
    bad["devices"][1]["operations"]["start_ms"][0] -= 1
    path, schedule = tmp_path / "spec.json", tmp_path / "schedule.json"
    path.write_text(json.dumps(spec))
    for document, ok in ((good, True), (bad, False)):
        schedule.write_text(json.dumps(document))
        result = CliRunner().invoke(app, ["check", str(path), str(schedule), "--format", "json"])
        response = service.post("/v1/check", json={"spec": spec, "schedule": document})
        assert response.status_code == 200, response.text
        python = json.loads(check(spec, document).model_dump_json())
        assert python["ok"] is ok
        assert python == json.loads(result.stdout) == response.json()
        assert result.exit_code == (0 if ok else 1)


def test_a_malformed_spec_is_refused_alike(service: ServiceClient, tmp_path: Path) -> None:
    spec = spec_data(2, 2) | {"training": {"microbatches": 0}}
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(spec))
    result = CliRunner().invoke(app, ["solve", str(path)])
    response = service.post("/v1/schedules", json=spec)
    assert result.exit_code == 2
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["pointer"] == "/training/microbatches"
    assert "/training/microbatches" in result.stderr
    assert response.json()["code"] in result.stderr
