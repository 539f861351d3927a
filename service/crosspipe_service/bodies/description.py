"""Describes a body that is read by hand, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

import yaml

from crosspipe_service.bodies.media import MEDIA_TYPES


def described_body(schema: str, description: str, example: str) -> dict[str, Any]:
    """Say that an operation reads `schema` (a component) in any of the media types; `example` is one in YAML."""
    schema_of = {"schema": {"$ref": f"#/components/schemas/{schema}"}}
    examples = {name: yaml.safe_load(example) if name.endswith("/json") else example for name in MEDIA_TYPES}
    content = {name: schema_of | {"example": shown} for name, shown in examples.items()}
    # The first is what the page of the API offers; people write YAML.
    yaml_first = dict(sorted(content.items(), key=lambda item: not item[0].endswith("/yaml")))
    return {"requestBody": {"required": True, "description": description, "content": yaml_first}}
