"""The OpenAPI document: what FastAPI finds, and the schemas of what is read by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from crosspipe.spec.schema import spec_schema
from crosspipe_service.checks.schemas import CheckRequest
from crosspipe_service.errors.document import ProblemDocument

if TYPE_CHECKING:
    from fastapi import FastAPI

COMPONENTS = "#/components/schemas/"


def describe(app: FastAPI) -> dict[str, Any]:
    """Build the document of an application."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        license_info=app.license_info,
    )
    _, ours = models_json_schema(
        [(ProblemDocument, "serialization"), (CheckRequest, "validation")], ref_template=COMPONENTS + "{model}"
    )
    _drop_validation_errors(document)
    schemas = document["components"]["schemas"] | ours["$defs"] | _spec_components()
    schemas["CheckRequest"]["properties"]["spec"] = {"$ref": f"{COMPONENTS}Spec"}
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def _drop_validation_errors(document: dict[str, Any]) -> None:
    """Leave out the error body of FastAPI, which this service never sends: its errors are problem documents."""
    for path in document["paths"].values():
        for operation in path.values():
            if "HTTPValidationError" in str(operation["responses"].get("422")):
                del operation["responses"]["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(name, None)


def _spec_components() -> dict[str, Any]:
    """Turn the schema of a spec into components: `Spec`, and `Spec.Link` and so on for its parts."""
    schema = spec_schema()
    parts = schema.pop("$defs")
    del schema["$schema"]
    moved = {f"Spec.{name}": part for name, part in parts.items()} | {"Spec": schema}
    return {name: _moved(part) for name, part in moved.items()}


def _moved(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reference(item) if key == "$ref" else _moved(item) for key, item in value.items()}
    return [_moved(item) for item in value] if isinstance(value, list) else value


def _reference(target: Any) -> Any:
    return target.replace("#/$defs/", f"{COMPONENTS}Spec.") if isinstance(target, str) else _moved(target)
