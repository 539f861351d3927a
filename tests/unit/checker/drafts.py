"""Small problems written by hand, so that the checker is tested without the compiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.checker.placed import Placed
from crosspipe.problem.operations import (
    NO_DEADLINE,
    NO_RESOURCE,
    Holdings,
    Kind,
    Operations,
    Precedences,
    RecomputeChoice,
)
from crosspipe.problem.problem import Device, Pool, Problem, StageInfo

if TYPE_CHECKING:
    from crosspipe.problem.links import Hop, Lane


def array(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@dataclass
class Draft:
    """Collects operations, precedences and holdings; resources are devices first, then lanes."""

    devices: list[str] = field(default_factory=lambda: ["d0", "d1"])
    lanes: list[Lane] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)
    chains_required: bool = False
    choices: list[RecomputeChoice] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    due: dict[int, int] = field(default_factory=dict)
    replicas: int = 1
    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    extras: list[tuple[str, int]] = field(default_factory=list)
    precedences: list[tuple[int, int, int]] = field(default_factory=list)
    holdings: list[tuple[int, int, int, int]] = field(default_factory=list)

    def add(
        self, kind: Kind, stage: int, microbatch: int, duration: int, resource: int = NO_RESOURCE, replica: int = 0
    ) -> int:
        self.rows.append((kind, stage, microbatch, replica, duration, resource))
        return len(self.rows) - 1

    def once(self, name: str, duration: int, resource: int = NO_RESOURCE) -> int:
        number = self.add(Kind.EXTRA, -1, 0, duration, resource)
        self.extras.append((name, number))
        return number

    def problem(self) -> Problem:
        kind, stage, microbatch, replica, duration, resource = (list(column) for column in zip(*self.rows, strict=True))
        before, after, lag = self._columns(self.precedences, 3)
        pool, taken, given, amount = self._columns(self.holdings, 4)
        return Problem(
            digest="",
            traversal="map",
            stages=tuple(StageInfo(None, 0) for _ in range(max(stage) + 1)),
            multipliers=("1",) * (max(microbatch) + 1),
            replicas=self.replicas,
            merged_replicas=1,
            devices=tuple(Device(name, name, replica, ()) for replica in range(self.replicas) for name in self.devices),
            lanes=tuple(self.lanes),
            operations=Operations(
                array(kind),
                array(stage),
                array(microbatch),
                array(replica),
                array(duration),
                array(resource),
                array([0] * len(kind)),
            ),
            precedences=Precedences(array(before), array(after), array(lag)),
            pools=tuple(self.pools),
            holdings=Holdings(array(pool), array(taken), array(given), array(amount)),
            hops=tuple(self.hops),
            chains=tuple(array(chain) for chain in self.chains),
            chains_required=self.chains_required,
            choices=tuple(self.choices),
            extras=tuple(self.extras),
            due_ns=array([self.due.get(number, NO_DEADLINE) for number in range(len(self.rows))]) if self.due else None,
        )

    @staticmethod
    def _columns(rows: list[tuple[int, ...]], width: int) -> list[list[int]]:
        return [[row[column] for row in rows] for column in range(width)]


def place(problem: Problem, starts: dict[int, int]) -> list[Placed]:
    """Place operations by number."""
    operations = problem.operations
    names = {number: name for name, number in problem.extras}
    return [
        Placed(
            Kind(int(operations.kind[number])),
            int(operations.stage[number]),
            int(operations.microbatch[number]),
            int(operations.replica[number]),
            start,
            name=names.get(number),
        )
        for number, start in starts.items()
    ]
