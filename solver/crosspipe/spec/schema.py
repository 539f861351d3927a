"""The JSON Schema of a spec, for editors and for checks before sending."""

from __future__ import annotations

from typing import Any

from crosspipe.spec.model import Spec

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def spec_schema() -> dict[str, Any]:
    """Build the JSON Schema (2020-12) of `Spec`: every field with its unit, bounds and default.

    A schema sees one field at a time: rules between fields are checked by `parse_spec` alone.
    """
    return {"$schema": DIALECT} | Spec.model_json_schema(by_alias=True) | {"title": "CrossPipe cluster spec"}
