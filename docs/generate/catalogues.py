"""Models, accelerators and formats that are known by name."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from docs.generate.markdown import code, table

from crosspipe.costs.catalogue import model_named
from crosspipe.costs.regions import left_out, region_pairs
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
            _experts(entry),
            str(entry["vocabulary"]),
            f"{model_named(name).parameters / 1e9:.1f}",
            entry["source"],
        )
        for name, entry in _data("models").items()
    ]
    head = ("name", "layers", "hidden size", "heads / kv", "feed-forward", "experts", "vocabulary", "10^9 parameters")
    return table((*head, "source"), rows)


def _experts(entry: dict[str, Any]) -> str:
    """Write the experts that a token is sent to, of how many, and their width."""
    experts = entry.get("experts")
    if experts is None:
        return ""
    shared = f" and {experts['shared_ffn']} shared" if experts.get("shared_ffn") else ""
    return f"{experts['chosen']} of {experts['routed']} x {experts['ffn']}{shared}"


def accelerators() -> str:
    """Write the table of accelerators."""
    rows = [
        (
            _names(name, entry),
            f"{entry['dense_bf16_tflops']}",
            f"{entry.get('dense_fp8_tflops', '')}",
            f"{entry.get('fp32_tflops', '')}",
            f"{entry['memory_gb']}",
            entry["source"],
        )
        for name, entry in _data("accelerators").items()
    ]
    return table(("name", "dense bf16 TFLOP/s", "fp8", "fp32", "memory GB", "source"), rows)


def regions() -> str:
    """Write the table of pairs of cloud regions."""
    rows = [
        (
            code(pair.between[0]),
            code(pair.between[1]),
            f"{pair.latency_ms} {'round trip' if pair.round_trip else 'one way'}",
            "" if pair.bandwidth_gbps is None else f"{pair.bandwidth_gbps}",
            pair.source,
        )
        for pair in region_pairs()
    ]
    gone = [f"Left out: {code(first)} to {code(second)}, {why}." for first, second, why in left_out()]
    return "\n\n".join([table(("region", "region", "latency in ms", "Gb/s", "source"), rows), *gone])


def formats() -> str:
    """Write the table of export formats."""
    return table(("format", "what it is"), [(code(one.name), one.summary) for one in FORMATS.values()])


def _data(name: str) -> dict[str, dict[str, Any]]:
    text = files("crosspipe.costs").joinpath(f"data/{name}.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, Any]] = json.loads(text)[name]
    return found


def _names(name: str, entry: dict[str, Any]) -> str:
    return ", ".join(map(code, [name, *entry.get("aliases", [])]))
