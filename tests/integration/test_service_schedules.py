from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from tests.building import spec_data
from tests.service.answers import TINY, Recorder
from tests.service.serving import JSON, YAML, ServiceClient, serving

from crosspipe.answer.models import Answer
from crosspipe_service.schedules.example import EXAMPLE
from crosspipe_service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

SOLVE = "/v1/schedules"
EXAMPLE_FILE = Path(__file__).parents[2] / "examples" / "two-sites-1.5b-32gb.yaml"


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    with serving(Settings(max_time_limit_s=20)) as client:
        yield client


def test_a_yaml_spec_is_solved(client: ServiceClient) -> None:
    response = client.post(SOLVE, content=EXAMPLE, headers=YAML, params={"time_limit_s": 0})
    assert response.status_code == 200
    answer = Answer.model_validate_json(response.content)
    assert answer.status == "feasible"
    assert answer.objective.value_ms is not None
    assert answer.objective.lower_bound_ms is not None
    assert answer.objective.lower_bound_ms <= answer.objective.value_ms <= 1609.5
    assert {device.device for device in answer.devices} == {
        f"{site}/{i}" for site in ("east", "west") for i in range(4)
    }


def test_json_and_yaml_mean_the_same(client: ServiceClient) -> None:
    answers = [
        client.post(SOLVE, content=content, headers=headers, params={"time_limit_s": 0}).json()
        for content, headers in ((EXAMPLE, YAML), (json.dumps(yaml.safe_load(EXAMPLE)), JSON))
    ]
    assert answers[0]["provenance"]["digest"] == answers[1]["provenance"]["digest"]
    assert answers[0]["devices"] == answers[1]["devices"]


@pytest.mark.parametrize("media", ["application/json", "application/yaml", "text/yaml", "application/x-yaml"])
@pytest.mark.parametrize("parameters", ["", "; charset=utf-8", ";charset=UTF-8"])
def test_every_named_media_type_is_read(client: ServiceClient, media: str, parameters: str) -> None:
    response = client.post(SOLVE, content=json.dumps(TINY), headers={"Content-Type": media + parameters})
    assert response.status_code == 200


def test_a_proved_answer_is_optimal(client: ServiceClient) -> None:
    answer = client.post(SOLVE, json=TINY, params={"time_limit_s": 20}).json()
    assert answer["status"] == "optimal"
    assert answer["stop_reason"] == "proved"
    assert answer["objective"]["gap"] == 0


def test_infeasible_is_an_answer_with_an_explanation(client: ServiceClient) -> None:
    spec = spec_data(2, 2, sites={"a": {"devices": 2, "memory_gb": 0.0005}})
    response = client.post(SOLVE, json=spec)
    assert response.status_code == 200
    assert response.json()["status"] == "infeasible"
    assert response.json()["explanation"]["reasons"]
    assert response.json()["objective"]["value_ms"] is None


def test_detail_levels_add_to_each_other(client: ServiceClient) -> None:
    answers = {
        detail: client.post(SOLVE, json=TINY, params={"detail": detail}).json()
        for detail in ("summary", "orders", "full")
    }
    operations = {detail: answer["devices"][0]["operations"] for detail, answer in answers.items()}
    curves = {detail: answer["devices"][0]["memory_curve"] for detail, answer in answers.items()}
    assert operations["summary"] is None
    assert operations["orders"] == operations["full"]
    assert operations["orders"]["kind"][0] == "F"
    assert curves["summary"] is None
    assert curves["orders"] is None
    assert curves["full"]["at_ms"]


def test_orders_are_the_default_detail(client: ServiceClient) -> None:
    plain, named = (client.post(SOLVE, json=TINY, params=params).json() for params in ({}, {"detail": "orders"}))
    assert plain["devices"] == named["devices"]


def test_the_span_objective_is_reached_by_its_parameter(client: ServiceClient) -> None:
    assert client.post(SOLVE, json=TINY, params={"objective": "span"}).json()["objective"]["name"] == "span"


def test_options_reach_the_solver() -> None:
    recorder = Recorder()
    with serving(Settings(default_time_limit_s=7), solve=recorder) as client:
        client.post(SOLVE, json=TINY)
        query = {"time_limit_s": 3.5, "objective": "span", "relative_gap": 0.1, "seed": 5, "workers": 3}
        client.post(SOLVE, json=TINY, params=query | {"deterministic": "true", "detail": "full"})
        client.post(SOLVE, json=TINY, params={"deterministic": "true"})
    first, second, third = recorder.options
    assert first["workers"] >= 1
    assert first | {"workers": None} == {
        "time_limit_s": 7,
        "objective": "makespan",
        "relative_gap": 0,
        "seed": 0,
        "workers": None,
        "deterministic": False,
        "detail": "orders",
    }
    assert second == query | {"deterministic": True, "detail": "full"}
    assert third["workers"] is None, "what else runs must not change a deterministic answer"


@pytest.mark.parametrize(
    ("parameter", "value", "nearest"),
    [
        ("time_limit_s", "-1", "0"),
        ("time_limit_s", "21", "20"),
        ("time_limit_s", "nan", None),
        ("time_limit_s", "inf", None),
        ("time_limit_s", "1e400", None),
        ("time_limit_s", "soon", None),
        ("objective", "makespam", "makespan"),
        ("objective", "", None),
        ("relative_gap", "1.5", "1"),
        ("relative_gap", "-0.5", "0"),
        ("seed", "-1", "0"),
        ("seed", "2147483648", "2147483647"),
        ("seed", "1.5", None),
        ("seed", "9" * 5000, None),
        ("workers", "0", "1"),
        ("workers", "100000", "256"),
        ("deterministic", "perhaps", None),
        ("detail", "order", "orders"),
        ("time_limit", "5", "time_limit_s"),
        ("xyzzy", "5", None),
    ],
)
def test_a_bad_parameter_is_named(client: ServiceClient, parameter: str, value: str, nearest: str | None) -> None:
    response = client.post(SOLVE, json=TINY, params={parameter: value})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["code"] == "invalid_option"
    (error,) = problem["errors"]
    assert error["parameter"] == parameter
    assert error["pointer"] is None
    assert error["nearest"] == nearest
    assert error["rule"]


def test_all_bad_parameters_are_named_at_once(client: ServiceClient) -> None:
    problem = client.post(SOLVE, json=TINY, params={"seed": -1, "detail": "x", "speed": 9}).json()
    assert {error["parameter"] for error in problem["errors"]} == {"seed", "detail", "speed"}


def test_a_fault_of_our_own_is_told_without_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object, **__: object) -> Answer:
        raise RuntimeError("a secret of the machine")

    with serving(solve=broken) as client:
        response = client.post(SOLVE, json=TINY)
        assert client.get("/healthz").json()["solves"]["running"] == 0
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["code"] == "internal_error"
    assert problem["instance"].startswith("urn:uuid:")
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert problem["instance"] in caplog.text
    assert "a secret of the machine" in caplog.text


def test_large_answers_are_compressed_where_wanted(client: ServiceClient) -> None:
    plain, zipped = (
        client.post(SOLVE, content=EXAMPLE, headers=YAML | {"Accept-Encoding": coding}, params={"time_limit_s": 0})
        for coding in ("identity", "gzip")
    )
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in zipped.headers["vary"].lower()
    assert int(zipped.headers["content-length"]) < int(plain.headers["content-length"]) / 3
    assert zipped.json()["devices"] == plain.json()["devices"]


def test_small_answers_are_not_compressed(client: ServiceClient) -> None:
    response = client.get("/healthz", headers={"Accept-Encoding": "gzip"})
    assert response.status_code == 200
    assert "content-encoding" not in response.headers


def test_the_example_of_the_page_is_the_example_of_the_repository() -> None:
    assert EXAMPLE_FILE.read_text(encoding="utf-8") == EXAMPLE
