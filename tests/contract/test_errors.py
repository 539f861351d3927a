from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
from tests.service.answers import TINY
from tests.service.serving import ServiceClient, serving

import crosspipe.errors
from crosspipe.errors import CrossPipeError, Fault, InputError, SpecError
from crosspipe_service.errors import exceptions
from crosspipe_service.errors.catalogue import CATALOGUE, KINDS
from crosspipe_service.errors.document import MOST_ERRORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.answer.models import Answer

MEMBERS = {"type", "title", "status", "detail", "instance", "code", "errors"}


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    with serving() as client:
        yield client


def subclasses(module: object, base: type[CrossPipeError]) -> list[type[CrossPipeError]]:
    return [kind for _, kind in inspect.getmembers(module, inspect.isclass) if issubclass(kind, base)]


def test_codes_are_unique() -> None:
    assert len(CATALOGUE) == len(KINDS)


@pytest.mark.parametrize("kind", subclasses(crosspipe.errors, SpecError), ids=lambda kind: kind.__name__)
def test_every_error_of_a_spec_has_a_kind(kind: type[CrossPipeError]) -> None:
    assert CATALOGUE[kind.code].status == 422


@pytest.mark.parametrize("kind", subclasses(exceptions, exceptions.ServiceError), ids=lambda kind: kind.__name__)
def test_every_error_of_the_service_has_a_kind(kind: type[CrossPipeError]) -> None:
    assert kind.code in CATALOGUE


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_code_is_documented_at_its_address(client: ServiceClient, code: str) -> None:
    response = client.get(f"/v1/errors/{code}")
    assert response.status_code == 200
    assert response.json()["code"] == code
    assert response.json()["meaning"]
    assert response.json()["remedy"]


def test_all_codes_are_listed(client: ServiceClient) -> None:
    assert [kind["code"] for kind in client.get("/v1/errors").json()] == list(CATALOGUE)


def test_a_problem_document_has_every_member_and_its_type_resolves(client: ServiceClient) -> None:
    response = client.post("/v1/schedules", json={})
    problem = response.json()
    assert set(problem) == MEMBERS
    assert problem["status"] == response.status_code == 422
    assert problem["title"] == CATALOGUE["invalid_spec"].title
    assert set(problem["errors"][0]) == {"pointer", "parameter", "rule", "value", "nearest"}
    assert "/model" in problem["detail"]
    assert client.get(problem["type"]).json()["code"] == problem["code"]


def test_instances_differ(client: ServiceClient) -> None:
    first, second = (client.get("/none").json()["instance"] for _ in range(2))
    assert first != second


def test_the_list_of_errors_has_an_end(client: ServiceClient) -> None:
    problem = client.post("/v1/schedules", json={f"field {i}": 1 for i in range(3 * MOST_ERRORS)}).json()
    assert len(problem["errors"]) == MOST_ERRORS
    assert "more" in problem["detail"]


@pytest.mark.parametrize("kind", subclasses(crosspipe.errors, InputError), ids=lambda kind: kind.__name__)
def test_errors_of_the_solver_s_input_reach_the_client(kind: type[InputError]) -> None:
    def refuse(*_: object, **__: object) -> Answer:
        raise kind([Fault("/here", "must be there", "this", "that")])

    with serving(solve=refuse) as client:
        problem = client.post("/v1/schedules", json=TINY).json()
    assert problem["code"] == kind.code
    (error,) = problem["errors"]
    assert error["rule"] == "must be there"
    assert error["value"] == "this"
    assert error["nearest"] == "that"
    assert (error["pointer"], error["parameter"]) in (("/here", None), (None, "here"))


def test_an_unexpected_error_of_the_library_is_ours() -> None:
    def fail(*_: object, **__: object) -> Answer:
        raise CrossPipeError("a fault of the library")

    with serving(solve=fail) as client:
        response = client.post("/v1/schedules", json=TINY)
    assert response.status_code == 500
    assert response.json()["code"] == "internal_error"
    assert "fault of the library" not in response.text
