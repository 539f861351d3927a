"""The operations of one stage on its device: what the greedy calls a chunk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Chunk:
    """Operations of one stage by position; `backward` (B or BW) and `weight` are empty where the stage has none."""

    stage: int
    forward: list[int]
    backward: list[int]
    weight: list[int]
