"""Options of a solve: what is made small, for how long, how reproducibly."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

from crosspipe.errors import Fault, OptionError
from crosspipe.problem.problem import Objective

LONGEST_S = 7 * 24 * 3600.0
MOST_WORKERS = 256


def usable_cores() -> int:
    """Count the processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class SolveOptions:
    """Options of a solve; out-of-range values raise `OptionError` at once.

    Attributes
    ----------
    objective
        What is made small.
    time_limit_s
        Seconds from the validated spec to the answer; 0 returns the construction.
    relative_gap
        Stop once (value - bound) / value is at most this; 0 asks for a proof.
    seed
        Seed of every random choice.
    workers
        Threads of the solving process.
    deterministic
        Same answer for the same OR-Tools version and worker count: work is then limited by counted effort, and the time
        limit only cuts it short.
    """

    objective: Objective = Objective.MAKESPAN
    time_limit_s: float = 10.0
    relative_gap: float = 0.0
    seed: int = 0
    workers: int = field(default_factory=usable_cores)
    deterministic: bool = False

    def __post_init__(self) -> None:
        faults = [
            *_within("time_limit_s", self.time_limit_s, 0.0, LONGEST_S),
            *_within("relative_gap", self.relative_gap, 0.0, 1.0),
            *_within("seed", self.seed, 0, 2**31 - 1),
            *_within("workers", self.workers, 1, MOST_WORKERS),
        ]
        if faults:
            raise OptionError(faults)


def _within(name: str, value: float, low: float, high: float) -> list[Fault]:
    if not math.isfinite(value):
        return [Fault(f"/{name}", "must be a finite number", str(value), str(low))]
    if low <= value <= high:
        return []
    return [Fault(f"/{name}", f"must be from {low} to {high}", str(value), str(min(max(value, low), high)))]
