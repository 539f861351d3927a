"""The knobs of the greedy, and a fixed portfolio of points that win somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Rule(IntEnum):
    """Which of a ready F and a ready backward goes first."""

    BACKWARD = 0
    FORWARD = 1
    ALTERNATE = 2
    LATEST_START = 3


class Keep(IntEnum):
    """How much memory is kept free when a microbatch starts a step (all are free of deadlock).

    OLDEST keeps what the proof asks for; STARTER also what the starting microbatch still needs on the device; ALL
    what every microbatch there still needs.
    """

    OLDEST = 0
    STARTER = 1
    ALL = 2


class Prefer(IntEnum):
    """Which chunk of a device goes first: the furthest along a way, the nearest, or that of the oldest microbatch."""

    FURTHEST = 0
    NEAREST = 1
    OLDEST = 2


@dataclass(frozen=True, slots=True)
class Settings:
    """One way to run the greedy.

    Attributes
    ----------
    rule, keep, prefer
        As described by their types.
    patience
        Idle this many W's at most for a preferred operation that is known to arrive, though another is ready.
    gap
        Start a W in idle time only if the next known arrival is at least this many W's away.
    owed
        Run a W first once more than this many are outstanding on the device; None for no limit.
    owed_by_rank
        Added to `owed` for each device index.
    pace
        Least interval of the first F's, in periods (the largest work of a resource for one microbatch).
    depth
        Most microbatches in flight on a stage, in round trips divided by the period; None for no limit.
    level
        Start a W in idle time also if waiting instead would leave the device idle for longer, in all since its first
        start, than any other (Zero Bubble's heuristic, arXiv 2401.10241, section 3.1).
    slope
        Periods by which a microbatch's latest start falls behind that of the one before it (LATEST_START only).
    """

    rule: Rule = Rule.BACKWARD
    patience: float = 0.25
    gap: float = 0.3
    owed: float | None = None
    owed_by_rank: float = 0.0
    keep: Keep = Keep.OLDEST
    prefer: Prefer = Prefer.FURTHEST
    pace: float = 0.0
    depth: float | None = None
    level: bool = False
    slope: float = 1.0
