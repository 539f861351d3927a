"""A known schedule put to a problem: its orders, its value, or why it does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.errors import DeadlockError, DoesNotFitError, NeverOpensError
from crosspipe.families.steps import DeviceOrders, has_weight, sequences_of
from crosspipe.families.verdict import judge, require_routes
from crosspipe.problem.combine import combine, combined_numbers
from crosspipe.schedule.joint import join_lanes
from crosspipe.schedule.orders import Orders

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.families.verdict import Verdict
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Objective, Problem


@dataclass(frozen=True, slots=True)
class FamilyResult:
    """One way of scheduling put to a problem.

    Attributes
    ----------
    name
        The family.
    orders
        Orders of the problem given, None if it does not fit.
    value_ns, makespan_ns, span_ns
        None if it does not fit. A family that runs backwards combined is quoted as such: its orders, which run W right
        after B, are at least as good.
    peak_bytes
        Most memory per device; given also where it is too much, None where the family has no order here.
    reason
        Why it does not fit, with numbers; None if it does.
    """

    name: str
    orders: Orders | None
    value_ns: int | None
    makespan_ns: int | None
    span_ns: int | None
    peak_bytes: tuple[int, ...] | None
    reason: str | None

    @classmethod
    def of(cls, name: str, orders: Orders, verdict: Verdict) -> FamilyResult:
        """State what the verdict says."""
        if verdict.reason is not None:
            return cls(name, None, None, None, None, verdict.peak_bytes, verdict.reason)
        return cls(name, orders, verdict.value_ns, verdict.makespan_ns, verdict.span_ns, verdict.peak_bytes, None)

    @classmethod
    def refused(cls, name: str, reason: str) -> FamilyResult:
        """State why there is no order at all."""
        return cls(name, None, None, None, None, None, reason)


@dataclass(frozen=True, slots=True)
class Family:
    """A known schedule.

    Attributes
    ----------
    name
        As people write it.
    steps
        Its device orders for a problem; raises `DoesNotFitError` where it does not apply.
    combined
        Whether it runs B and W as one.
    """

    name: str
    steps: Callable[[Problem], DeviceOrders]
    combined: bool = False

    def build(self, problem: Problem, recomputed: frozenset[int] = frozenset()) -> Orders:
        """Orders of the problem, limits of memory not looked at; W right after B if the family runs them as one.

        Raises
        ------
        DoesNotFitError
            If the family does not apply.
        DeadlockError, NeverOpensError
            As `join_lanes`.
        """
        run_as = self._run_as(problem)
        chosen = recomputed | problem.recomputed
        orders = join_lanes(run_as, sequences_of(run_as, self.steps(run_as)), chosen)
        return orders if run_as is problem else separate(problem, orders)

    def put_to(self, problem: Problem, objective: Objective) -> FamilyResult:
        """Value of the family on a problem; stages recompute only on devices whose memory is too small otherwise."""
        run_as = self._run_as(problem)
        try:
            require_routes(problem)
            sequences = sequences_of(run_as, self.steps(run_as))
            recomputed, first = problem.recomputed, None
            while True:
                orders = join_lanes(run_as, sequences, recomputed)
                verdict = judge(run_as, orders, objective)
                result = FamilyResult.of(self.name, orders if run_as is problem else separate(problem, orders), verdict)
                if result.reason is None:
                    return result
                first = first or result
                relief = _relief(run_as, verdict.peak_bytes, recomputed)
                if not relief:
                    return first
                recomputed |= relief
        except (DoesNotFitError, NeverOpensError) as error:
            return FamilyResult.refused(self.name, str(error))
        except DeadlockError as error:
            return FamilyResult.refused(self.name, f"waits for itself (deadlock): {error}")

    def _run_as(self, problem: Problem) -> Problem:
        return combine(problem) if self.combined and any(has_weight(problem)) else problem


def _relief(problem: Problem, peak_bytes: tuple[int, ...], recomputed: frozenset[int]) -> frozenset[int]:
    """Choose one more stage to recompute on each device whose memory is too small, its lowest first."""
    if problem.recomputed:
        return frozenset()
    free = sorted({choice.stage for choice in problem.choices} - recomputed)
    found: set[int] = set()
    for pool in problem.pools:
        if pool.unit == "bytes" and pool.capacity is not None and peak_bytes[pool.device] > pool.capacity:
            found.update([stage for stage in free if stage in problem.devices[pool.device].stages][:1])
    return frozenset(found)


def separate(problem: Problem, combined: Orders) -> Orders:
    """Orders of `combine(problem)` as orders of `problem`: each BW is B and then at once W."""
    numbers = combined_numbers(problem)
    by_combined = np.lexsort((problem.operations.kind, numbers))
    edges = np.searchsorted(numbers[by_combined], np.arange(int(numbers.max()) + 2))

    def parts(sequence: IntArray) -> IntArray:
        found = [by_combined[edges[number] : edges[number + 1]] for number in sequence.tolist()]
        return np.concatenate(found).astype(np.int64) if found else np.zeros(0, dtype=np.int64)

    return Orders(tuple(parts(sequence) for sequence in combined.sequences), combined.recomputed)
