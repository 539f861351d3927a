"""Accepted schedules broken on purpose: each mutation is built to break one named rule.

A maker takes an accepted schedule and yields broken versions of it, none where the case has nothing to break.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from tests.golden.cases import case_named, witness, witness_ids
from tests.golden.compiled import problem_of
from tests.golden.mapping import case_schedule

from crosspipe.checker.check import check
from crosspipe.checker.placed import Placed
from crosspipe.checker.report import ViolationKind
from crosspipe.problem.links import Hop
from crosspipe.problem.operations import NO_DEADLINE, Kind
from crosspipe.problem.problem import Pool, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Accepted:
    """A witness: the problem with its recompute options applied, rows by operation number, true ends."""

    problem: Problem
    rows: tuple[Placed, ...]
    ends: tuple[int, ...]

    @property
    def starts(self) -> list[int]:
        return [row.start_ns for row in self.rows]

    def moved(self, operation: int, start_ns: int) -> Broken:
        rows = list(self.rows)
        rows[operation] = replace(rows[operation], start_ns=start_ns)
        return Broken(self.problem, tuple(rows))

    def changed(self, operation: int, row: Placed) -> Broken:
        return Broken(self.problem, (*self.rows[:operation], row, *self.rows[operation + 1 :]))


@dataclass(frozen=True)
class Broken:
    """A schedule to be refused."""

    problem: Problem
    rows: tuple[Placed, ...]


def accepted(case_id: str) -> Accepted:
    """Take the witness of a case."""
    rows, recomputed = witness(case_id)
    problem = problem_of(case_id).recompute(recomputed)
    operations = problem.operations
    extras = dict(problem.extras)
    by_number: dict[int, Placed] = {}
    for row in case_schedule(case_named(case_id), rows):
        extra = extras.get(row.name) if row.name else None
        number = problem.number(row.kind, row.stage, row.microbatch, row.replica) if extra is None else extra
        assert number is not None
        by_number[number] = row
    found = tuple(by_number[number] for number in problem)
    ends = tuple(row.start_ns + int(length) for row, length in zip(found, operations.duration_ns, strict=True))
    return Accepted(problem, found, ends)


def missing(good: Accepted) -> Iterator[Broken]:
    for operation in spread(good, 3):
        yield Broken(good.problem, (*good.rows[:operation], *good.rows[operation + 1 :]))


def unknown(good: Accepted) -> Iterator[Broken]:
    row, problem = good.rows[0], good.problem
    for stray in (
        replace(row, microbatch=problem.microbatches),
        replace(row, stage=len(problem.stages)),
        replace(row, replica=problem.replicas),
        replace(row, kind=Kind.W if problem.number(Kind.BW, row.stage, 0) is not None else Kind.BW),
        Placed(Kind.EXTRA, -1, 0, 0, row.start_ns, name="no such thing"),
    ):
        yield Broken(problem, (*good.rows, stray))


def duplicate(good: Accepted) -> Iterator[Broken]:
    for operation in spread(good, 3):
        again = replace(good.rows[operation], start_ns=max(good.ends))
        yield Broken(good.problem, (*good.rows, again))


def negative_start(good: Accepted) -> Iterator[Broken]:
    first = min(good.problem, key=lambda operation: good.starts[operation])
    yield good.moved(first, -1)
    yield Broken(good.problem, tuple(replace(row, start_ns=row.start_ns - max(good.ends)) for row in good.rows))


def duration(good: Accepted) -> Iterator[Broken]:
    for operation in spread(good, 2):
        for change in (-1, 1):
            yield good.changed(operation, replace(good.rows[operation], end_ns=good.ends[operation] + change))


def wrong_resource(good: Accepted) -> Iterator[Broken]:
    for operation in spread(good, 3):
        resource = int(good.problem.operations.resource[operation])
        other = (resource + 1) % good.problem.resources
        yield good.changed(operation, replace(good.rows[operation], resource=other))


def overlap_device(good: Accepted) -> Iterator[Broken]:
    yield from overlap(good, range(len(good.problem.devices)))


def overlap_link(good: Accepted) -> Iterator[Broken]:
    yield from overlap(good, range(len(good.problem.devices), good.problem.resources))


def overlap(good: Accepted, resources: range) -> Iterator[Broken]:
    """Start an operation one nanosecond before the one ahead of it ends, and one just as the other starts."""
    for resource in resources:
        row = sorted(good.problem.by_resource[resource].tolist(), key=lambda operation: good.starts[operation])
        middle = len(row) // 2
        if len(row) > 1:
            yield good.moved(row[middle], good.ends[row[middle - 1]] - 1)
            yield good.moved(row[middle - 1], good.starts[row[middle]])


def window(good: Accepted) -> Iterator[Broken]:
    """Let a transfer run one nanosecond into a closed window, start in it, and start one nanosecond before its end."""
    for number, lane in enumerate(good.problem.lanes, start=len(good.problem.devices)):
        for closed in lane.windows:
            for operation in good.problem.by_resource[number].tolist()[-1:]:
                length = good.ends[operation] - good.starts[operation]
                base = 0 if closed.period_ns is None else 3 * closed.period_ns
                assert closed.end_ns is not None
                for start in (closed.start_ns - length + 1, closed.start_ns, closed.end_ns - 1):
                    yield good.moved(operation, base + start)


def dependency_of(
    wanted: Callable[[Kind, Kind], bool], *, extra: bool = False
) -> Callable[[Accepted], Iterator[Broken]]:
    """Start an operation one nanosecond before what it needs has arrived."""

    def maker(good: Accepted) -> Iterator[Broken]:
        rows, kinds = good.problem.precedences, good.problem.operations.kind
        pairs = [
            (before, after, lag)
            for before, after, lag in zip(rows.before.tolist(), rows.after.tolist(), rows.lag_ns.tolist(), strict=True)
            if wanted(Kind(int(kinds[before])), Kind(int(kinds[after])))
        ]
        for before, after, lag in pairs[len(pairs) // 2 :: max(1, len(pairs) // 4)]:
            yield good.moved(after, good.ends[before] + lag - 1)
            if extra:
                yield good.moved(before, good.starts[after] - (good.ends[before] - good.starts[before]) + 1)

    return maker


BACKWARD = (Kind.B, Kind.BW)

weight_before_input = dependency_of(lambda before, after: before is Kind.B and after is Kind.W)
backward_before_forward = dependency_of(lambda before, after: before is Kind.F and after in BACKWARD)
activation_unsent = dependency_of(lambda before, after: before is Kind.F and after is Kind.ACTIVATION)
activation_late = dependency_of(lambda before, after: before is Kind.ACTIVATION and after is Kind.F)
gradient_unsent = dependency_of(lambda before, after: before in BACKWARD and after is Kind.GRADIENT)
gradient_late = dependency_of(lambda before, after: before is Kind.GRADIENT and after in BACKWARD)
latency_ignored = dependency_of(lambda before, after: before is after and before in (Kind.F, *BACKWARD))
extra_misplaced = dependency_of(lambda before, after: Kind.EXTRA in (before, after), extra=True)


def memory(good: Accepted) -> Iterator[Broken]:
    """Leave one byte less than the schedule needs: a lower capacity, then a higher static part."""
    peaks = check(good.problem, good.rows).peaks
    for number, peak in enumerate(peaks):
        pool = good.problem.pools[number]
        if peak.amount > pool.base:
            yield Broken(with_pool(good.problem, number, replace(pool, capacity=peak.amount - 1)), good.rows)
            tight = replace(pool, capacity=peak.amount, base=pool.base + 1)
            yield Broken(with_pool(good.problem, number, tight), good.rows)


def memory_kept(good: Accepted) -> Iterator[Broken]:
    """Give memory back one nanosecond late, where it is taken again at once and the device is full."""
    held = good.problem.holdings
    rows = [
        (int(pool), good.starts[taken], good.ends[given], int(amount), int(given))
        for pool, taken, given, amount in zip(held.pool, held.taken_by, held.given_by, held.amount, strict=True)
        if amount
    ]
    taken_at = {(pool, start) for pool, start, _, _, _ in rows}
    for pool, _, end, _, given in rows:
        level = sum(amount for of, start, until, amount, _ in rows if of == pool and start <= end < until)
        full = good.problem.pools[pool].base + level == good.problem.pools[pool].capacity
        if full and (pool, end) in taken_at:
            yield good.moved(given, good.starts[given] + 1)


def in_flight(good: Accepted) -> Iterator[Broken]:
    """Cap a stage at one microbatch less than it holds."""
    held = good.problem.holdings
    pool = len(good.problem.pools)
    for stage in range(len(good.problem.stages)):
        first = good.problem.number(Kind.F, stage, 0)
        assert first is not None
        rows = [
            (int(taken), int(given))
            for taken, given in zip(held.taken_by, held.given_by, strict=True)
            if good.rows[taken].stage == stage and good.rows[taken].replica == 0 and good.rows[taken].kind is Kind.F
        ]
        last = {taken: max((g for t, g in rows if t == taken), key=lambda g: good.ends[g]) for taken, _ in rows}
        if len(last) < good.problem.microbatches:
            continue
        counted = replace(
            held,
            pool=np.append(held.pool, [pool] * len(last)),
            taken_by=np.append(held.taken_by, list(last)),
            given_by=np.append(held.given_by, list(last.values())),
            amount=np.append(held.amount, [1] * len(last)),
        )
        device = int(good.problem.operations.resource[first])
        cap = Pool(f"in flight on stage {stage}", "microbatches", device, good.problem.microbatches)
        loose = replace(good.problem, holdings=counted, pools=(*good.problem.pools, cap))
        report = check(loose, good.rows)
        assert report.ok
        yield Broken(with_pool(loose, pool, replace(cap, capacity=report.peaks[pool].amount - 1)), good.rows)


def with_pool(problem: Problem, number: int, pool: Pool) -> Problem:
    return replace(problem, pools=(*problem.pools[:number], pool, *problem.pools[number + 1 :]))


def order(good: Accepted) -> Iterator[Broken]:
    """Swap two neighbours in a fixed order."""
    if not good.problem.chains_required:
        return
    for chain in good.problem.chains:
        first, second = (int(operation) for operation in chain[:2])
        rows = list(good.rows)
        rows[first] = replace(rows[first], start_ns=good.starts[second])
        rows[second] = replace(rows[second], start_ns=good.starts[first])
        yield Broken(good.problem, tuple(rows))


def deadline(good: Accepted) -> Iterator[Broken]:
    for operation in spread(good, 2):
        due = np.full(len(good.rows), NO_DEADLINE, dtype=np.int64)
        due[operation] = good.ends[operation] - 1
        yield Broken(replace(good.problem, due_ns=due), good.rows)


def route(good: Accepted) -> Iterator[Broken]:
    for number, hop in enumerate(good.problem.hops):
        gone = Hop(hop.boundary, hop.kind, hop.sender, hop.receiver, missing=True)
        hops = (*good.problem.hops[:number], gone, *good.problem.hops[number + 1 :])
        yield Broken(replace(good.problem, hops=hops), good.rows)


def spread(good: Accepted, count: int) -> list[int]:
    """Pick a few operations from all over."""
    return list(range(0, len(good.rows), max(1, len(good.rows) // count)))[:count]


@dataclass(frozen=True)
class Recipe:
    """How to break a rule, how many versions to take in all and from one case, and whether nothing else breaks."""

    kind: ViolationKind
    make: Callable[[Accepted], Iterator[Broken]]
    count: int
    alone: bool = False
    per_case: int = 2


RECIPES = {
    "operation removed": Recipe(ViolationKind.MISSING, missing, 12, alone=True),
    "operation invented": Recipe(ViolationKind.UNKNOWN, unknown, 12, alone=True, per_case=5),
    "operation placed twice": Recipe(ViolationKind.DUPLICATE, duplicate, 12, alone=True),
    "started before zero": Recipe(ViolationKind.NEGATIVE_START, negative_start, 12),
    "end misstated": Recipe(ViolationKind.DURATION, duration, 16, alone=True, per_case=4),
    "place misstated": Recipe(ViolationKind.WRONG_RESOURCE, wrong_resource, 12, alone=True, per_case=3),
    "device used twice at once": Recipe(ViolationKind.OVERLAP_DEVICE, overlap_device, 20),
    "lane used twice at once": Recipe(ViolationKind.OVERLAP_LINK, overlap_link, 20),
    "sent through a closed window": Recipe(ViolationKind.WINDOW, window, 18, per_case=6),
    "W before B": Recipe(ViolationKind.DEPENDENCY, weight_before_input, 8),
    "B before F": Recipe(ViolationKind.DEPENDENCY, backward_before_forward, 8),
    "activation sent early": Recipe(ViolationKind.DEPENDENCY, activation_unsent, 8),
    "activation used early": Recipe(ViolationKind.DEPENDENCY, activation_late, 8),
    "gradient sent early": Recipe(ViolationKind.DEPENDENCY, gradient_unsent, 8),
    "gradient used early": Recipe(ViolationKind.DEPENDENCY, gradient_late, 8),
    "latency ignored": Recipe(ViolationKind.DEPENDENCY, latency_ignored, 8),
    "extra operation misplaced": Recipe(ViolationKind.DEPENDENCY, extra_misplaced, 10),
    "memory too small": Recipe(ViolationKind.MEMORY, memory, 16, alone=True, per_case=4),
    "memory given back late": Recipe(ViolationKind.MEMORY, memory_kept, 8),
    "too many in flight": Recipe(ViolationKind.IN_FLIGHT, in_flight, 14, alone=True),
    "fixed order swapped": Recipe(ViolationKind.ORDER, order, 14),
    "deadline missed": Recipe(ViolationKind.DEADLINE, deadline, 12, alone=True),
    "link taken away": Recipe(ViolationKind.ROUTE, route, 8, alone=True, per_case=1),
}


def broken(recipe: Recipe) -> Iterator[tuple[str, Broken]]:
    """Give exactly `count` broken schedules, from cases spread over the whole set, with the case's name."""
    made = ((case_id, one) for case_id in shuffled() for one in islice(recipe.make(accepted(case_id)), recipe.per_case))
    yield from islice(made, recipe.count)


def shuffled() -> list[str]:
    """Give the solvable cases in a fixed order that mixes the kinds."""
    names = witness_ids()
    step = 61  # prime to their number, so every case comes once
    return [names[i * step % len(names)] for i in range(len(names))]
