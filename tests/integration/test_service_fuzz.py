"""Whatever is sent, the answer is a result or a problem document, never a fault of the service."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.service.answers import TINY, Recorder
from tests.service.serving import JSON, YAML, ServiceClient, serving

from crosspipe_service.schedules.example import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

SPEC: dict[str, Any] = yaml.safe_load(EXAMPLE)
PATHS = st.sampled_from(["/v1/schedules", "/v1/check"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["auto", "loop", "wave", "east", "west", "half", "clock", "llama-3-70b", "-1", "1e999"]),
    st.sampled_from([0, -1, 0.5, 10**30, 1e308, 2**63]),
)
FIELDS = st.sampled_from(
    ["model", "training", "sites", "links", "parallel", "stages", "layers", "count", "forward_ms", "microbatches"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS | st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    with serving(solve=Recorder()) as client:
        yield client


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a document."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def assert_answered(response: httpx.Response) -> None:
    assert response.status_code in (200, 422), response.text[:500]
    if response.status_code == 422:
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["errors"]


@settings(max_examples=150, deadline=None)
@given(path=PATHS, body=st.binary(max_size=200), media=st.sampled_from([JSON, YAML]))
def test_random_bytes(client: ServiceClient, path: str, body: bytes, media: dict[str, str]) -> None:
    assert_answered(client.post(path, content=body, headers=media))


@settings(max_examples=150, deadline=None)
@given(path=PATHS, body=st.text(alphabet="{}[]:,-&*!|>\"'#%@\n\t ab01.", max_size=60))
def test_random_yaml(client: ServiceClient, path: str, body: str) -> None:
    assert_answered(client.post(path, content=body.encode(), headers=YAML))


@settings(max_examples=200, deadline=None)
@given(path=PATHS, body=VALUES)
def test_random_documents(client: ServiceClient, path: str, body: object) -> None:
    assert_answered(client.post(path, content=json.dumps(body), headers=JSON))


@settings(max_examples=250, deadline=None)
@given(place=st.sampled_from(places(SPEC)), value=VALUES)
def test_a_good_spec_with_one_place_changed(client: ServiceClient, place: tuple[str | int, ...], value: object) -> None:
    spec: Any = copy.deepcopy(SPEC)
    spec["training"]["microbatches"] = 2
    parent = spec
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    assert_answered(client.post("/v1/schedules", content=json.dumps(spec), headers=JSON))


@settings(max_examples=150, deadline=None)
@given(schedule=VALUES, rows=st.lists(st.lists(SCALARS | st.sampled_from("FBW"), max_size=7), max_size=4))
def test_random_schedules(client: ServiceClient, schedule: object, rows: list[list[object]]) -> None:
    for document in (schedule, {"operations": rows}, {"devices": rows}, {"devices": [], "transfers": schedule}):
        assert_answered(
            client.post("/v1/check", content=json.dumps({"spec": TINY, "schedule": document}), headers=JSON)
        )


@settings(max_examples=150, deadline=None)
@given(query=st.dictionaries(st.sampled_from(["time_limit_s", "seed", "workers", "detail", "x"]), st.text(max_size=9)))
def test_random_parameters(client: ServiceClient, query: dict[str, str]) -> None:
    response = client.post("/v1/schedules", json=SPEC, params={"objective": "nothing"} | query)
    assert response.status_code == 422
    assert response.json()["code"] == "invalid_option"
