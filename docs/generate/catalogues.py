"""Models, accelerators and formats that are known by name."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from docs.generate.markdown import code, table

from crosspipe.export.registry import FORMATS


def models() -> str:
    """Write the table of models."""
    rows = [
        (
            _names(name, entry),
            str(entry["layers"]),
            str(entry["hidden_size"]),
            f"{entry['heads']} / {entry['kv_heads']}",
            str(entry["intermediate_size"]),
            str(entry["vocabulary"]),
            entry["source"],
        )
        for name, entry in _data("models").items()
    ]
    return table(("name", "layers", "hidden size", "heads / kv", "feed-forward", "vocabulary", "source"), rows)


def accelerators() -> str:
    """Write the table of accelerators."""
    rows = [
        (_names(name, entry), f"{entry['dense_bf16_tflops']}", f"{entry['memory_gb']}", entry["source"])
        for name, entry in _data("accelerators").items()
    ]
    return table(("name", "dense bf16 TFLOP/s", "memory GB", "source"), rows)


def formats() -> str:
    """Write the table of export formats."""
    return table(("format", "what it is"), [(code(one.name), one.summary) for one in FORMATS.values()])


def _data(name: str) -> dict[str, dict[str, Any]]:
    text = files("crosspipe.costs").joinpath(f"data/{name}.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)[name]
    return found


def _names(name: str, entry: dict[str, Any]) -> str:
    return ", ".join(map(code, [name, *entry.get("aliases", [])]))
