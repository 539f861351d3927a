from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.building import spec_data
from tests.service.serving import JSON, YAML, ServiceClient, serving

from crosspipe_service.checks.example import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECK = "/v1/check"
DOCUMENT: dict[str, Any] = yaml.safe_load(EXAMPLE)
LINKS = [{"between": ["a", "b"], "bandwidth_gbps": 0.016, "one_way_latency_ms": 0.5}]
TWO_SITES = spec_data(2, 3, sites={"a": {"devices": 1}, "b": {"devices": 1}}, links=LINKS)


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    with serving() as client:
        yield client


def test_a_good_schedule_keeps_every_rule(client: ServiceClient) -> None:
    response = client.post(CHECK, content=EXAMPLE, headers=YAML)
    assert response.status_code == 200
    assert response.json() == {"ok": True, "makespan_ms": 70.0, "span_ms": 70.0, "violations": []}
    assert client.post(CHECK, content=json.dumps(DOCUMENT), headers=JSON).json() == response.json()


@pytest.mark.parametrize("detail", ["orders", "full"])
def test_an_answer_of_the_service_passes(client: ServiceClient, detail: str) -> None:
    answer = client.post("/v1/schedules", json=TWO_SITES, params={"detail": detail}).json()
    result = client.post(CHECK, json={"spec": TWO_SITES, "schedule": answer}).json()
    assert result["ok"]
    assert result["violations"] == []
    assert result["makespan_ms"] == answer["makespan_ms"]


def test_a_broken_rule_is_told_with_operation_place_and_amount(client: ServiceClient) -> None:
    document = copy.deepcopy(DOCUMENT)
    document["schedule"]["operations"][1][4] = 14.25
    response = client.post(CHECK, json=document)
    assert response.status_code == 200
    assert not response.json()["ok"]
    (violation,) = response.json()["violations"]
    assert violation["kind"] == "dependency"
    assert violation["amount"] == 750_000
    assert violation["operations"]
    assert "0.75 ms" in violation["message"]


def test_a_changed_answer_is_caught(client: ServiceClient) -> None:
    answer = client.post("/v1/schedules", json=TWO_SITES).json()
    columns = answer["devices"][0]["operations"]
    columns["start_ms"][1], columns["end_ms"][1] = columns["start_ms"][0], columns["end_ms"][0]
    result = client.post(CHECK, json={"spec": TWO_SITES, "schedule": answer}).json()
    assert "overlap_device" in {violation["kind"] for violation in result["violations"]}


@pytest.mark.parametrize(
    ("body", "code", "pointer"),
    [
        ({}, "invalid_schedule", "/spec"),
        ({"spec": TWO_SITES}, "invalid_schedule", "/schedule"),
        ([], "invalid_schedule", ""),
        ({"spec": [], "schedule": {}}, "invalid_schedule", "/spec"),
        ({"spec": {}, "schedule": {}}, "invalid_spec", "/spec/model"),
        ({"spec": TWO_SITES, "schedule": {}}, "invalid_schedule", "/schedule"),
        ({"spec": TWO_SITES, "schedule": []}, "invalid_schedule", "/schedule"),
        (
            {"spec": TWO_SITES, "schedule": {"operations": [["G", 0, 0, 0, 0]]}},
            "invalid_schedule",
            "/schedule/operations/0/0",
        ),
        (
            {"spec": TWO_SITES, "schedule": {"operations": [["F", 0, 0, 0, "now"]]}},
            "invalid_schedule",
            "/schedule/operations/0/4",
        ),
        ({"spec": TWO_SITES, "schedule": {"operations": []}, "objective": "span"}, "invalid_schedule", "/objective"),
    ],
)
def test_what_cannot_be_read_is_named(client: ServiceClient, body: object, code: str, pointer: str) -> None:
    response = client.post(CHECK, json=body)
    assert response.status_code == 422
    assert response.json()["code"] == code
    assert pointer in [error["pointer"] for error in response.json()["errors"]]


def test_numbers_that_are_none_are_named(client: ServiceClient) -> None:
    body = json.dumps({"spec": TWO_SITES, "schedule": {"operations": [["F", 0, 0, 0, float("nan")]]}})
    response = client.post(CHECK, content=body, headers=JSON)
    assert response.status_code == 422
    assert response.json()["code"] == "invalid_schedule"
    assert response.json()["errors"][0]["pointer"] == "/schedule/operations/0/4"


def test_a_typo_is_told_its_nearest_name(client: ServiceClient) -> None:
    response = client.post(CHECK, json={"spec": TWO_SITES, "schedules": {}})
    assert {error["pointer"]: error["nearest"] for error in response.json()["errors"]}["/schedules"] == "schedule"


def test_a_spec_that_is_too_large_is_named_as_the_spec(client: ServiceClient) -> None:
    spec = spec_data(2, 1_000_000)
    response = client.post(CHECK, json={"spec": spec, "schedule": {"operations": []}})
    assert response.status_code == 422
    assert response.json()["code"] == "too_large"
    assert all(error["pointer"].startswith("/spec") for error in response.json()["errors"])
