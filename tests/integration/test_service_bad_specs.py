from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.service.answers import Recorder
from tests.service.serving import ServiceClient, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

BAD = Path(__file__).parents[1] / "data" / "bad"
EXPECTED: dict[str, dict[str, Any]] = json.loads((BAD / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(scope="module")
def client(recorder: Recorder) -> Iterator[ServiceClient]:
    with serving(solve=recorder) as client:
        yield client


def test_every_bad_file_is_tried() -> None:
    assert set(EXPECTED) == {path.name for path in BAD.iterdir()} - {"expected.json"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_bad_spec_is_refused_by_name_of_its_field(client: ServiceClient, recorder: Recorder, name: str) -> None:
    expected = EXPECTED[name]
    media = "application/json" if name.endswith(".json") else "application/yaml"
    response = client.post("/v1/schedules", content=(BAD / name).read_bytes(), headers={"Content-Type": media})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["code"] == expected["code"]
    assert problem["type"] == f"/v1/errors/{expected['code']}"
    assert problem["status"] == 422
    assert all(error["parameter"] is None and error["rule"] for error in problem["errors"])
    found = {error["pointer"]: error["nearest"] for error in problem["errors"]}
    assert expected["pointer"] in found
    assert found[expected["pointer"]] == expected["nearest"]
    assert not recorder.options, "nothing bad reaches the solver"


# Below `spec` the deepest level allowed is one up; the file has a pointer of its own then.
IN_CHECKS = sorted(n for n in EXPECTED if EXPECTED[n]["code"] == "invalid_spec" and n != "deep_nesting.json")


@pytest.mark.parametrize("name", IN_CHECKS)
def test_a_bad_spec_in_a_check_is_named_from_the_top_of_the_body(client: ServiceClient, name: str) -> None:
    text = (BAD / name).read_text(encoding="utf-8", errors="surrogateescape")
    if name.endswith(".json"):
        body = '{"schedule": {"operations": []}, "spec": ' + text + "}"
    else:
        body = "schedule: {operations: []}\nspec:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    response = client.post(
        "/v1/check",
        content=body.encode("utf-8", errors="surrogateescape"),
        headers={"Content-Type": "application/yaml"},
    )
    assert response.status_code == 422
    pointers = [error["pointer"] for error in response.json()["errors"]]
    assert f"/spec{EXPECTED[name]['pointer']}" in pointers
