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
            *_within("seed", self.seed, 0, 2**31 - 1, whole=True),
            *_within("workers", self.workers, 1, MOST_WORKERS, whole=True),
            *_flag("deterministic", self.deterministic),
        ]
        if faults:
            raise OptionError(faults)


def _flag(name: str, value: object) -> list[Fault]:
    return [] if isinstance(value, bool) else [Fault(f"/{name}", "must be true or false", repr(value))]


def _within(name: str, value: object, low: float, high: float, *, whole: bool = False) -> list[Fault]:
    """Hold a value against its range; it may be of any type, as callers are not all type-checked."""
    what = "a whole number" if whole else "a number"
    rule = f"must be {what} from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or math.isnan(value):
        return [Fault(f"/{name}", rule, repr(value), str(low))]
    if low <= value <= high:
        return []
    return [Fault(f"/{name}", rule, str(value), str(min(max(value, low), high)))]
