"""Every file of openapi/examples is sent, and what comes back holds what the file says (it may hold more)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.service.serving import ServiceClient, serving

from crosspipe_service.openapi import exported

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = sorted((Path(__file__).parents[2] / "openapi" / "examples").glob("*.json"))


@pytest.fixture(scope="module")
def client() -> Iterator[ServiceClient]:
    with serving() as client:
        yield client


def assert_holds(found: Any, said: Any, place: str = "") -> None:
    """Compare what is said, mapping by mapping; of a list, as many first items as are said."""
    if isinstance(said, dict):
        for key, value in said.items():
            assert key in found, f"{place}/{key}"
            assert_holds(found[key], value, f"{place}/{key}")
    elif isinstance(said, list) and said:
        for number, value in enumerate(said):
            assert_holds(found[number], value, f"{place}/{number}")
    else:
        assert found == said, place


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_is_answered_as_it_says(client: ServiceClient, file: Path) -> None:
    example = json.loads(file.read_text(encoding="utf-8"))
    request, expected = example["request"], example["response"]
    response = client.request(request["method"], request["path"], params=request["query"], json=request.get("body"))
    assert response.status_code == expected["status"], response.text[:500]
    assert response.headers["content-type"] == expected["content_type"]
    assert_holds(response.json(), expected["body"])


def test_every_operation_has_an_example() -> None:
    requests = [json.loads(file.read_text(encoding="utf-8"))["request"] for file in EXAMPLES]
    for path, operations in json.loads(exported())["paths"].items():
        for method in operations:
            begin = path.split("{")[0]
            assert any(r["method"] == method.upper() and r["path"].startswith(begin) for r in requests), path
