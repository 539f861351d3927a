"""What is kept of an answer that has cut the layers: the cut, its busiest and fullest device, the rules of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.answer.cut_models import Cut
    from crosspipe.answer.models import Answer

NOTE = "cut"
"""Name of the note of a measurement."""


def cut_note(answer: Answer) -> dict[str, Any]:
    """Write the note; empty where nothing was cut, or there is no schedule."""
    cut: Cut | None = answer.cut
    if cut is None:
        return {}
    shares = [device.peak_memory_mb / device.memory_mb for device in answer.devices if device.memory_mb]
    return {
        NOTE: {
            "layers_per_stage": cut.layers_per_stage,
            "devices": [stage.device for stage in answer.assignment],
            "recompute": [stage.recompute for stage in answer.assignment],
            "considered": cut.considered,
            "bottleneck_ms": max(device.busy_ms for device in answer.devices),
            "peak_share": max(shares, default=None),
            "rules": {row.rule: row.model_dump(include={"value_ms", "gain", "reason"}) for row in cut.rules},
        }
    }


def beaten_by(note: Mapping[str, Any]) -> list[str]:
    """Name the rules whose cut has a better schedule than the answer."""
    return [rule for rule, found in note["rules"].items() if found["gain"] is not None and found["gain"] < 0]
