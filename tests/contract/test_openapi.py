from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

from crosspipe.answer.solve import solve
from crosspipe.spec.schema import spec_schema
from crosspipe_service.checks.example import EXAMPLE as CHECK_EXAMPLE
from crosspipe_service.errors.catalogue import CATALOGUE
from crosspipe_service.openapi import exported, main
from crosspipe_service.schedules.example import EXAMPLE

if TYPE_CHECKING:
    import pytest

EXPORTED = Path(__file__).parents[2] / "openapi" / "openapi.json"
DOCUMENT: dict[str, Any] = json.loads(exported())
SCHEMAS = DOCUMENT["components"]["schemas"]


def judge(value: object, schema: str) -> None:
    """Validate a value against a component, references and all."""
    whole = {"$ref": f"#/components/schemas/{schema}", "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


def test_the_exported_document_is_what_the_service_serves() -> None:
    assert EXPORTED.read_text(encoding="utf-8") == exported(), "run: make openapi"


def test_the_comparison_fails_where_the_file_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "openapi.json"
    assert main(["--check", str(file)]) == 1
    file.write_text(exported().replace("CrossPipe", "CrossPipes", 1), encoding="utf-8")
    assert main(["--check", str(file)]) == 1
    assert "make openapi" in capsys.readouterr().err
    assert main(["--write", str(file)]) == 0
    assert main(["--check", str(file)]) == 0


def test_every_reference_leads_somewhere() -> None:
    for name in re.findall(r'"\$ref": "([^"]+)"', exported()):
        assert name.removeprefix("#/components/schemas/") in SCHEMAS


def test_every_component_is_a_schema() -> None:
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_spec_is_the_published_schema() -> None:
    published = spec_schema()
    assert SCHEMAS["Spec"]["properties"].keys() == published["properties"].keys()
    assert {name for name in SCHEMAS if name.startswith("Spec.")} == {f"Spec.{name}" for name in published["$defs"]}


def test_the_examples_in_the_document_obey_their_schemas() -> None:
    judge(yaml.safe_load(EXAMPLE), "Spec")
    judge(yaml.safe_load(CHECK_EXAMPLE), "CheckRequest")


def test_an_answer_obeys_its_schema() -> None:
    answer = solve(EXAMPLE, time_limit_s=0, detail="full")
    judge(json.loads(answer.model_dump_json()), "Answer")


def test_errors_of_every_operation_are_problem_documents() -> None:
    for path in DOCUMENT["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    assert list(response["content"]) == ["application/problem+json"]
                    named = re.findall(r"`(\w+)`", response["description"])
                    assert named
                    assert all(CATALOGUE[code].status == int(status) for code in named)


def test_the_framework_s_own_error_body_is_not_promised() -> None:
    assert "HTTPValidationError" not in exported()
