"""Why the model is cut as it is: each move of one layer over a boundary, held against the answer's own cut."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosspipe.accounts.models import CutAccount, Move
from crosspipe.answer.models import Answer
from crosspipe.answer.starts import starts_of
from crosspipe.answer.summary import ms
from crosspipe.answer.units import to_mb, to_ms, to_ns
from crosspipe.bounds.obstacles import obstacles
from crosspipe.costs.assignment import Assignment
from crosspipe.costs.expand import prepare
from crosspipe.costs.stages import MeasuredStages
from crosspipe.errors import CrossPipeError
from crosspipe.families.registry import run_families
from crosspipe.problem.compile import compile_spec
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective
from crosspipe.search.bounding import quick_bound
from crosspipe.spec.digest import spec_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.costs.preparation import Preparation
    from crosspipe.problem.problem import Problem
    from crosspipe.search.clock import Clock
    from crosspipe.spec.model import Recompute, Spec

MOST_COMPARED = 20_000
"""Operations above which a moved cut is judged by bounds and the same orders alone."""

BOUND_S = 0.0
"""Seconds of count states for the bound of a moved cut: closed arguments alone, there are many moves."""


def cut_account(spec: Spec, document: Mapping[str, Any], clock: Clock) -> CutAccount | None:
    """Hold the cut of an answer against its neighbours; None where the stages were given, or no answer says them."""
    prepared = prepare(spec)
    if isinstance(prepared.source, MeasuredStages):
        return None
    try:
        answer = Answer.model_validate(document)
    except ValueError:
        return None  # a plain schedule document: it does not say what it is the answer to
    own = assignment_of(prepared, document)
    if own is None:
        return None
    problem = _compiled(prepared, spec, own)
    work = _stage_work(problem)
    slowest = int(np.argmax(work))
    looks = answer.objective.value_ms is not None
    moves = [
        _judged(prepared, spec, answer, own, moved, clock) if looks and clock.left_s else _unknown(*moved)
        for moved in _moves(prepared, own)
    ]
    known = [move for move in moves if move.value_ms is not None]
    return CutAccount(
        layers=list(own.counts),
        bottleneck_stage=slowest,
        bottleneck_ms=to_ms(int(work[slowest])),
        moves=moves,
        runner_up=min(known, key=lambda move: move.value_ms or 0.0, default=None),
    )


def assignment_of(prepared: Preparation, document: Mapping[str, Any]) -> Assignment | None:
    """Read the assignment of an answer: what its stages hold and where they sit.

    Where it does not say what the stages hold, they are the spec's own cut. None if it is no assignment of the spec.
    """
    even = prepared.even()
    names = [name for name, _ in prepared.devices]
    rows = [row for row in document.get("assignment") or () if isinstance(row, Mapping)]
    places = [names.index(row["device"]) for row in rows if row.get("device") in names]
    ends = [row["end_item"] for row in rows if isinstance(row.get("end_item"), int)]
    if not rows or len(places) != len(rows):
        return None
    if len(ends) == len(rows):
        ways: list[Recompute] = [row.get("recompute") or "none" for row in rows]
        return Assignment(tuple(ends), tuple(places), tuple(ways))
    return replace(even, devices=tuple(places)) if len(rows) == len(even.ends) else None


def _compiled(prepared: Preparation, spec: Spec, assignment: Assignment) -> Problem:
    return compile_spec(prepared.expand(assignment).spec, spec_digest(spec))[0]


def _stage_work(problem: Problem) -> Any:
    """Compute time of each stage over all microbatches of a replica, in ns."""
    ops = problem.operations
    rows = (ops.kind <= Kind.BW) & (ops.replica == 0)
    return np.bincount(ops.stage[rows], weights=ops.duration_ns[rows], minlength=len(problem.stages)).astype(np.int64)


def _moves(prepared: Preparation, own: Assignment) -> Iterator[tuple[str, int, int, Assignment | None]]:
    """List the moves of one item over each boundary; without an assignment where a stage would be left empty."""
    for boundary in range(len(own.ends) - 1):
        for step, source, target in ((-1, boundary, boundary + 1), (1, boundary + 1, boundary)):
            ends = list(own.ends)
            item = ends[boundary] - 1 if step < 0 else ends[boundary]
            ends[boundary] += step
            moved = None if own.counts[source] == 1 else replace(own, ends=tuple(ends))
            yield _item(prepared, item), source, target, moved


def _item(prepared: Preparation, item: int) -> str:
    """Name an item as the stage that it alone would make is named."""
    source = prepared.source
    if isinstance(source, MeasuredStages):
        return str(item)
    name = source.stage(item, item + 1, prepared.degrees).layers or str(item)
    return f"layer {name}" if name.isdigit() else name


def _unknown(layer: str, source: int, target: int, _moved: Assignment | None) -> Move:
    return _move(layer, source, target, "unknown", "no time was left to look at it")


def _judged(
    prepared: Preparation,
    spec: Spec,
    answer: Answer,
    own: Assignment,
    what: tuple[str, int, int, Assignment | None],
    clock: Clock,
) -> Move:
    layer, source, target, moved = what
    if moved is None:
        return _move(layer, source, target, "impossible", f"stage {source} would be left without a layer")
    try:
        problem = _compiled(prepared, spec, moved)
        crossing = _crossing(prepared, problem, own, moved, min(source, target))
    except CrossPipeError as error:
        return _move(layer, source, target, "impossible", str(error))
    facts = _busiest(problem) | {"boundary_mb": crossing[0]}
    reasons = obstacles(problem)
    if reasons:
        short = reasons[0]
        lacks = None
        if short.unit == "bytes" and short.needs is not None and short.has is not None:
            lacks = to_mb(short.needs - short.has)
        return _move(layer, source, target, "impossible", short.message, missing_mb=lacks, **facts)
    objective = Objective(answer.objective.name)
    now_ns = to_ns(answer.objective.value_ms or 0.0)
    bound_ns = quick_bound(problem, objective, BOUND_S).value_ns
    value = None if bound_ns > now_ns else _value_ns(problem, answer, objective, bound_ns, clock)
    told = {"value_ms": None if value is None else to_ms(value), "lower_bound_ms": to_ms(bound_ns)} | facts
    busiest = f"{facts['bottleneck']} would have {ms(facts['bottleneck_ms'])} to do{crossing[1]}"
    if bound_ns > now_ns:
        text = f"{busiest}; no schedule of that cut is faster than {ms(to_ms(bound_ns))}"
        return _move(layer, source, target, "proved_worse", text, **told)
    if value is None:
        text = f"{busiest}; no known schedule fits that cut"
        return _move(layer, source, target, "unknown", text, **told)
    verdict = "worse" if value > now_ns else "equal" if value == now_ns else "better"
    change = {"worse": f", {ms(to_ms(value - now_ns))} more", "better": f", {ms(to_ms(now_ns - value))} less"}
    text = f"{busiest}; the best schedule known for that cut takes {ms(to_ms(value))}{change.get(verdict, '')}"
    return _move(layer, source, target, verdict, text, **told)


def _value_ns(problem: Problem, answer: Answer, objective: Objective, bound_ns: int, clock: Clock) -> int | None:
    """Time the answer's own orders for another cut, then the known schedules."""
    found, _ = starts_of([answer.model_copy(update={"traversal": problem.traversal})], [problem], objective, clock)
    values = [start.value_ns for start in found]
    if len(problem.operations) <= MOST_COMPARED and clock.left_s:
        rows = run_families(problem, objective, 0.0, bound_ns)
        values += [row.value_ns for row in rows if row.value_ns is not None]
    return min(values, default=None)


def _busiest(problem: Problem) -> dict[str, Any]:
    """Tell which device or lane has most to do."""
    ops = problem.operations
    used = ops.resource >= 0
    busy = np.bincount(ops.resource[used], weights=ops.duration_ns[used], minlength=problem.resources)
    busiest = int(np.argmax(busy))
    return {"bottleneck": problem.resource_name(busiest), "bottleneck_ms": to_ms(int(busy[busiest]))}


def _crossing(
    prepared: Preparation, problem: Problem, own: Assignment, moved: Assignment, boundary: int
) -> tuple[float | None, str]:
    """Tell what a message over the moved boundary measures where it goes between sites, and whether that is more."""
    sites = [problem.devices[problem.stages[stage].device].site for stage in (boundary, boundary + 1)]
    if sites[0] == sites[1]:
        return None, ""
    sizes = [prepared.stages(cut)[boundary].boundary_mb for cut in (own, moved)]
    larger = f", its message between sites {sizes[1]:g} MB in place of {sizes[0]:g}" if sizes[1] > sizes[0] else ""
    return float(sizes[1]), larger


def _move(layer: str, source: int, target: int, verdict: str, reason: str, **more: Any) -> Move:
    given = {
        "layer": layer,
        "from_stage": source,
        "to_stage": target,
        "verdict": verdict,
        "value_ms": None,
        "lower_bound_ms": None,
        "missing_mb": None,
        "bottleneck": None,
        "bottleneck_ms": None,
        "boundary_mb": None,
        "reason": reason,
    }
    return Move.model_validate(given | more)


__all__ = ["assignment_of", "cut_account"]
