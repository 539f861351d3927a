"""The endpoints, errors and settings of the service, from the service itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docs.generate.markdown import code, paragraph, table

from crosspipe_service.app import create_app
from crosspipe_service.errors.catalogue import KINDS
from crosspipe_service.settings import Settings, settings_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def endpoints() -> str:
    """Write one section per endpoint."""
    document = create_app(Settings()).openapi()
    return "\n\n".join(
        _section(f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    )


def errors() -> str:
    """Write the table of error codes."""
    rows = [(code(kind.code), str(kind.status), kind.meaning, kind.remedy) for kind in KINDS]
    return table(("code", "status", "when", "what to do"), rows)


def settings() -> str:
    """Write the table of environment variables."""
    return settings_table()


def _section(name: str, operation: Mapping[str, Any]) -> str:
    parts = [f"### {name}", paragraph(operation.get("description", operation["summary"]))]
    if found := [*_parameters(operation.get("parameters", []))]:
        parts.append(table(("parameter", "in", "default", "allowed", "meaning"), found))
    answers = [(status, _said(said["description"])) for status, said in operation["responses"].items()]
    parts.append(table(("status", "when"), answers))
    return "\n\n".join(parts)


def _said(description: str) -> str:
    """Say what a status stands for; the framework's own words for success say nothing."""
    return "what was asked for" if description == "Successful Response" else description


def _parameters(parameters: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, ...]]:
    for one in parameters:
        schema = one["schema"]
        default = schema.get("default")
        shown = "" if default is None else code(str(default).lower() if isinstance(default, bool) else str(default))
        described = one.get("description") or schema.get("description", "")
        yield code(one["name"]), one["in"], shown, _allowed(schema), described


def _allowed(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(filter(None, (_allowed(one) for one in schema["anyOf"] if one.get("type") != "null")))
    if "enum" in schema:
        return " or ".join(code(str(value)) for value in schema["enum"])
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        return "`true` or `false`" if schema.get("type") == "boolean" else ""
    return f"≥ {low:g}" if high is None else f"{low:g} to {high:.0f}"
