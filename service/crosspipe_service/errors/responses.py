"""The errors of an endpoint, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from crosspipe_service.errors.catalogue import CATALOGUE
from crosspipe_service.errors.document import PROBLEM_JSON

SCHEMA = {"$ref": "#/components/schemas/ProblemDocument"}


def problems(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Describe the responses of these errors and of `internal_error`, one per status."""
    found: dict[int | str, dict[str, Any]] = {}
    for code in (*codes, "internal_error"):
        kind = CATALOGUE[code]
        said = found.setdefault(kind.status, {"content": {PROBLEM_JSON: {"schema": SCHEMA}}, "description": ""})
        if kind.status == 503:
            said["headers"] = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}}}
        said["description"] += f"{', ' if said['description'] else ''}`{code}`: {kind.title}"
    return dict(sorted(found.items(), key=lambda item: int(item[0])))
