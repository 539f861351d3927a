"""Estimates beside what the Zero Bubble paper measured: stage times and the memory of 1F1B."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from docs.generate.markdown import table

from crosspipe.costs.expand import expand
from crosspipe.spec.load import parse_spec
from crosspipe.spec.stages import StagesModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.spec.stages import Stage

MEASURED = Path(__file__).resolve().parents[2] / "tests/data/zero_bubble_measured.json"

KINDS = ("forward", "backward_input", "backward_weight")

TYPICAL_STAGE = 1
"""A stage with neither embedding nor head."""

Shares = tuple[float, float, float]
"""Shares of the peak that F, B and W reach."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measured row: its model, whether the shares were fitted on it, and the times of F, B and W in ms."""

    model: str
    fitted: bool
    microbatches: int
    times_ms: Shares


@cache
def measured() -> Mapping[str, Any]:
    """Read what was measured, by model."""
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))["models"]
    return found


def rows() -> list[Row]:
    """List the measured rows."""
    return [
        Row(name, entry["fitted"], row["microbatches"], _times(row))
        for name, entry in measured().items()
        for row in entry["rows"]
    ]


def _times(row: Mapping[str, float]) -> Shares:
    return row["forward_ms"], row["backward_input_ms"], row["backward_weight_ms"]


@cache
def stages(model: str, microbatches: int, shares: Shares) -> tuple[Stage, ...]:
    """Estimate the stages of a model in the paper's settings."""
    entry = measured()[model]
    pipeline = entry["pipeline"]
    spec = {
        "model": model,
        "training": {
            "microbatches": microbatches,
            "microbatch": entry["microbatch"],
            "sequence_length": 1024,
            "utilisation": dict(zip(KINDS, shares, strict=True)),
        },
        "parallel": {"tensor": 1, "pipeline": pipeline, "data": 1},
        "placement": {"layers_per_stage": _cut(model, pipeline)},
        "sites": {"here": {"gpus": pipeline, "gpu": "a100-80gb"}},
    }
    found = expand(parse_spec(spec)).spec.model
    if not isinstance(found, StagesModel) or not isinstance(found.stages, list):
        raise TypeError(f"{model} has no stages of its own")
    return tuple(found.stages)


def _cut(model: str, pipeline: int) -> list[int]:
    """Give every stage as many layers, one less to the first and the last; the head counts as one."""
    layers = {"zero-bubble-1.5b": 22, "zero-bubble-6.2b": 30, "zero-bubble-14.6b": 46, "zero-bubble-28.3b": 62}[model]
    each = (layers + 2) // pipeline
    return [each - 1, *[each] * (pipeline - 1)]


def estimated(row: Row, shares: Shares) -> Shares:
    """Estimate the times of a row at some shares of the peak."""
    stage = stages(row.model, row.microbatches, shares)[TYPICAL_STAGE]
    return float(stage.forward_ms), float(stage.backward_input_ms or 0), float(stage.backward_weight_ms or 0)


@cache
def one_share() -> Shares:
    """Fit one share of the peak to F + B + W of the fitted rows: the mean of what they reach."""
    full = (1.0, 1.0, 1.0)
    share = round(mean(sum(estimated(row, full)) / sum(row.times_ms) for row in rows() if row.fitted), 3)
    return share, share, share


@cache
def three_shares() -> Shares:
    """Fit a share each to F, B and W of the fitted rows."""
    full = (1.0, 1.0, 1.0)
    pairs = [(estimated(row, full), row.times_ms) for row in rows() if row.fitted]
    found = [round(mean(at_peak[kind] / taken[kind] for at_peak, taken in pairs), 3) for kind in range(len(KINDS))]
    return found[0], found[1], found[2]


def errors(row: Row, shares: Shares) -> tuple[float, ...]:
    """Give the relative errors of F, B, W and of their sum."""
    found = estimated(row, shares)
    parts = [mine / taken - 1 for mine, taken in zip(found, row.times_ms, strict=True)]
    return (*parts, sum(found) / sum(row.times_ms) - 1)


def peak_mb(model: str) -> float:
    """Estimate the memory of 1F1B on the fullest stage: stage s of p holds min(p - s, m) microbatches."""
    entry = measured()[model]
    pipeline, microbatches = entry["pipeline"], entry["rows"][0]["microbatches"]
    return max(
        float(stage.static_mb) + min(pipeline - number, microbatches) * float(stage.activation_mb)
        for number, stage in enumerate(stages(model, microbatches, one_share()))
    )


def times_part() -> str:
    """Write the table of times."""
    lines = []
    for row in rows():
        by_three, by_one = errors(row, three_shares()), errors(row, one_share())
        lines.append(
            (
                row.model,
                str(row.microbatches),
                "fitted" if row.fitted else "judged",
                " / ".join(f"{time:.2f}" for time in row.times_ms),
                " / ".join(f"{time:.2f}" for time in estimated(row, three_shares())),
                " / ".join(f"{error:+.0%}" for error in by_three[:3]),
                " / ".join(f"{error:+.0%}" for error in by_one),
            )
        )
    head = ("model", "m", "row", "measured F / B / W ms", "estimated", "error", "error with one share, F / B / W / all")
    shares = "F {:.1%}, B {:.1%}, W {:.1%}".format(*three_shares())
    told = f"Fitted shares of the peak: {shares}; one share for all: {one_share()[0]:.1%}."
    return f"{told}\n\n{table(head, lines)}"


def memory_part() -> str:
    """Write the table of memory."""
    lines = []
    for model, entry in measured().items():
        gb = peak_mb(model) / 1000
        lines.append((model, str(entry["memory_gb"]), f"{gb:.1f}", f"{gb / entry['memory_gb'] - 1:+.0%}"))
    return table(("model", "measured peak GB", "estimated GB", "error"), lines)
