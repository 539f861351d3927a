"""Collects rows of operations, precedences and holdings as whole blocks, and numbers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import NO_RESOURCE, Holdings, Kind, Operations, Precedences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.operations import IntArray


class Builder:
    """Blocks of rows: one block holds one kind of operation of one stage, for all replicas and microbatches.

    Block arrays have shape (replicas, microbatches); an entry of -1 means that there is no operation.
    """

    def __init__(self, replicas: int, microbatches: int) -> None:
        self.shape = (replicas, microbatches)
        self._columns: list[tuple[IntArray, ...]] = []
        self._edges: list[tuple[IntArray, IntArray, IntArray]] = []
        self._holdings: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
        self._operations = 0
        self._holding_count = 0

    def block(self, kind: Kind, stage: int, durations_ns: IntArray, resources: IntArray, leg: int = 0) -> IntArray:
        """Add an operation per replica and microbatch; `durations_ns` per microbatch, `resources` per replica.

        A transfer of no length is no operation.
        """
        replicas, microbatches = self.shape
        duration = np.broadcast_to(durations_ns, self.shape)
        there = duration > 0 if kind.is_transfer else np.ones(self.shape, dtype=bool)
        numbers = np.full(self.shape, -1, dtype=np.int64)
        count = int(there.sum())
        numbers[there] = self._operations + np.arange(count)
        self._operations += count
        replica, microbatch = np.meshgrid(np.arange(replicas), np.arange(microbatches), indexing="ij")
        resource = np.broadcast_to(resources[:, None], self.shape)
        constant = np.ones(count, dtype=np.int64)
        named = (constant * kind, constant * stage, microbatch[there], replica[there])
        self._columns.append((*named, duration[there], resource[there], constant * leg))
        return numbers

    def single(self, duration_ns: int, resource: int | None) -> int:
        """Add one extra operation."""
        row = (Kind.EXTRA, -1, 0, 0, duration_ns, NO_RESOURCE if resource is None else resource, 0)
        self._columns.append(tuple(np.array([value], dtype=np.int64) for value in row))
        self._operations += 1
        return self._operations - 1

    def after(self, before: IntArray, after: IntArray, lag_ns: IntArray | int = 0) -> None:
        """Make each operation of `after` wait for the one of `before` in the same place."""
        first, second, lag = np.broadcast_arrays(before, after, np.asarray(lag_ns, dtype=np.int64))
        there = (first >= 0) & (second >= 0)
        self._edges.append((first[there].ravel(), second[there].ravel(), lag[there].ravel()))

    def hold(self, pools: IntArray, taken_by: IntArray, given_by: IntArray, amounts: IntArray) -> IntArray:
        """Hold `amounts` (per microbatch) in the pool of each replica; returns the rows' numbers."""
        count = taken_by.size
        self._holdings.append(
            (
                np.broadcast_to(pools[:, None], self.shape).ravel(),
                taken_by.ravel(),
                given_by.ravel(),
                np.broadcast_to(amounts, self.shape).ravel(),
            )
        )
        self._holding_count += count
        return np.arange(self._holding_count - count, self._holding_count)

    def keep(self, pool: int, taken_by: int, given_by: int, amount: int) -> None:
        """Hold an amount once per step, between operations that belong to no microbatch."""
        row = (pool, taken_by, given_by, amount)
        self._holdings.append(tuple(np.array([value], dtype=np.int64) for value in row))  # type: ignore[arg-type]
        self._holding_count += 1

    def operations(self) -> Operations:
        """All operations added."""
        return Operations(*_stacked(self._columns, 7))

    def precedences(self) -> Precedences:
        """All precedences added."""
        return Precedences(*_stacked(self._edges, 3))

    def holdings(self) -> Holdings:
        """All holdings added, those of nothing included."""
        return Holdings(*_stacked(self._holdings, 4))


def _stacked(rows: Sequence[tuple[IntArray, ...]], width: int) -> list[IntArray]:
    empty = np.zeros(0, dtype=np.int64)
    return [np.concatenate([empty, *(row[column] for row in rows)]).astype(np.int64) for column in range(width)]
