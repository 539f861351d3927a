"""The same problem with combined backwards: what a framework without a split backward runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.problem.operations import Holdings, Kind, Operations, Precedences, RecomputeChoice

if TYPE_CHECKING:
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem


def combine(problem: Problem) -> Problem:
    """Make each pair of B and W one BW as long as both; the gradient then leaves at its end.

    All memory that B or W would give back is given back at the end of BW. Operations keep their order; W's are taken
    out, so operation numbers change (`combined_numbers` maps them).
    """
    return _Combination(problem).problem()


def combined_numbers(problem: Problem) -> IntArray:
    """Operation number in `combine(problem)` of each operation of `problem` (a B and its W get the same)."""
    return _Combination(problem).new


class _Combination:
    def __init__(self, problem: Problem) -> None:
        self._old = problem
        kind = problem.operations.kind
        self._weights = np.flatnonzero(kind == Kind.W)
        ops = problem.operations
        self._inputs = problem.numbers[
            Kind.B, ops.replica[self._weights], ops.stage[self._weights], ops.microbatch[self._weights]
        ]
        self._kept = np.flatnonzero(kind != Kind.W)
        self.new: IntArray = np.zeros(len(ops), dtype=np.int64)
        self.new[self._kept] = np.arange(len(self._kept))
        self.new[self._weights] = self.new[self._inputs]

    def problem(self) -> Problem:
        old = self._old
        return replace(
            old,
            operations=self._operations(),
            precedences=self._precedences(),
            holdings=self._holdings(),
            chains=tuple(self.new[chain] for chain in old.chains if old.operations.kind[chain[0]] != Kind.W),
            choices=tuple(self._choice(choice) for choice in old.choices),
            extras=tuple((name, int(self.new[number])) for name, number in old.extras),
            between_sites=tuple(int(self.new[number]) for number in old.between_sites),
            due_ns=None if old.due_ns is None else self._due(old.due_ns),
        )

    def _operations(self) -> Operations:
        old = self._old.operations
        kind, duration = old.kind.copy(), old.duration_ns.copy()
        kind[self._inputs] = Kind.BW
        duration[self._inputs] += duration[self._weights]
        rows = self._kept
        return Operations(
            kind[rows],
            old.stage[rows],
            old.microbatch[rows],
            old.replica[rows],
            duration[rows],
            old.resource[rows],
            old.leg[rows],
        )

    def _precedences(self) -> Precedences:
        old = self._old.precedences
        before, after = self.new[old.before], self.new[old.after]
        apart = before != after
        return Precedences(before[apart], after[apart], old.lag_ns[apart])

    def _holdings(self) -> Holdings:
        old = self._old.holdings
        return Holdings(old.pool, self.new[old.taken_by], self.new[old.given_by], old.amount)

    def _choice(self, choice: RecomputeChoice) -> RecomputeChoice:
        longer = choice.durations_ns.copy()
        if len(self._weights):
            weight = np.zeros(len(self._old.operations), dtype=np.int64)
            weight[self._inputs] = self._old.operations.duration_ns[self._weights]
            longer += weight[choice.operations]
        return replace(choice, operations=self.new[choice.operations], durations_ns=longer)

    def _due(self, due_ns: IntArray) -> IntArray:
        due = due_ns.copy()
        due[self._inputs] = np.minimum(due[self._inputs], due[self._weights])
        return due[self._kept]
