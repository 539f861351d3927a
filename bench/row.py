"""A row of a benchmark: an instance, who solves it, for how long, and what it is held against."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

OURS = "crosspipe"
"""The contender that is CrossPipe itself."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of an instance.

    Attributes
    ----------
    status
        `optimal` if `value_ns` is proved, `infeasible` if it is proved that there is no schedule, else None.
    value_ns, bound_ns
        Best value and best bound known elsewhere.
    peers
        Value that each other scheduler reaches; the best of them is not to be exceeded.
    rounding_ns
        How far value and bound may be off because they are known in rounded form only; within it they are reached.
    """

    status: Literal["optimal", "infeasible"] | None = None
    value_ns: int | None = None
    bound_ns: int | None = None
    peers: Mapping[str, int] = field(default_factory=dict)
    rounding_ns: int = 0

    @property
    def best_peer(self) -> tuple[str, int] | None:
        """Name and value of the best of the other schedulers."""
        return min(self.peers.items(), key=lambda item: item[1], default=None)


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row is to show; None where nothing is asked.

    Attributes
    ----------
    first_s
        A first schedule within this time.
    gap, gap_s
        A gap of at most `gap` within `gap_s`.
    proof_s
        Value and bound meet within this time.
    peak_mb
        Peak memory of all processes.
    """

    first_s: float | None = None
    gap: float | None = None
    gap_s: float | None = None
    proof_s: float | None = None
    peak_mb: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One run of one contender on one instance.

    Attributes
    ----------
    suite, name
        Where it belongs; the name is unique among the rows of its suite and contender.
    spec
        The instance as CrossPipe takes it.
    objective
        `makespan` or `span`.
    limit_s
        Time limit of the contender.
    quick
        Whether it belongs to the short run.
    contender
        Who solves it.
    threads
        Threads the contender may use, then pinned to one core if it is 1; None for its own choice.
    """

    suite: str
    name: str
    spec: Mapping[str, Any]
    objective: Literal["makespan", "span"]
    limit_s: float
    quick: bool = False
    contender: str = OURS
    threads: int | None = None
    reference: Reference = field(default_factory=Reference)
    goal: Goal = field(default_factory=Goal)

    @property
    def key(self) -> str:
        """Name the row within its suite."""
        return self.name if self.contender == OURS else f"{self.name} @ {self.contender}"

    @property
    def request(self) -> dict[str, Any]:
        """All that the measured process is told."""
        return {
            "spec": dict(self.spec),
            "objective": self.objective,
            "limit_s": self.limit_s,
            "contender": self.contender,
            "threads": self.threads,
        }

    @property
    def fingerprint(self) -> str:
        """Name what is measured: rows of another instance, limit or contender do not stand for this one."""
        return hashlib.sha256(json.dumps(self.request, sort_keys=True).encode()).hexdigest()[:16]
