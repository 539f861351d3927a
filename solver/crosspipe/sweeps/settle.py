"""What points lend each other: a schedule to all that are never worse, a bound to all that are never better.

More memory, shorter latency, more bandwidth or a larger cap never lengthen the optimum. So a point's schedule is one of
each better point, replayed and judged there, and a point's bound holds at each worse one. Afterwards no two points
contradict this, whatever the searches found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.answer.solve import solve
from crosspipe.answer.units import to_ns
from crosspipe.search.incumbents import SolverContradictionError
from crosspipe.search.progress import relative_gap

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer
    from crosspipe.sweeps.grid import Grid, Place
    from crosspipe.sweeps.models import SweepPoint

Points = dict["Place", "SweepPoint"]

NEIGHBOUR = "neighbour"
INHERITED = "nor has "
"""Begins the reason of a point that has no schedule as a better one has none."""


def settle(grid: Grid, points: Points, objective: str) -> list[Place]:
    """Let the points that are known lend each other what they have; returns those that have changed."""
    before = dict(points)
    for place in reversed(grid.order):  # worse ones first: what they lend goes on from neighbour to neighbour
        for better in grid.better[place]:
            if place in points and better in points:
                _lend_schedule(grid, points, place, better, objective)
    for place in grid.order:
        for better in grid.better[place]:
            if place in points and better in points:
                points[place] = bounded(points[place], points[better], grid.said(better))
    return [place for place, point in points.items() if point is not before[place]]


def _lend_schedule(grid: Grid, points: Points, lender: Place, borrower: Place, objective: str) -> None:
    lent, known = points[lender], points[borrower]
    if lent.value_ms is not None and known.status == "infeasible":
        where = grid.said(borrower)
        raise SolverContradictionError(f"a point has a schedule, the better one at {where} is said to have none")
    if lent.value_ms is None or lent.answer is None:
        return
    if known.value_ms is not None and known.value_ms <= lent.value_ms:
        return
    answer = solve(
        grid.points[borrower].spec, time_limit_s=0, objective=objective, workers=1, start=[slim(lent.answer)]
    )
    value_ms = answer.objective.value_ms
    if value_ms is None or (known.value_ms is not None and value_ms >= known.value_ms):
        return  # a device whose memory hangs on other devices' times may hold more where these are shorter
    source = answer.provenance.schedule_from
    if source == "start":
        source = f"{NEIGHBOUR} {grid.said(lender)}"
    points[borrower] = concluded(known.model_copy(update={"value_ms": value_ms, "value_from": source}), answer)


def bounded(point: SweepPoint, better: SweepPoint, where: str) -> SweepPoint:
    """Take over the bound of a better point where it is larger, or the proof that no schedule exists."""
    if better.status == "infeasible":
        if point.status == "infeasible":
            return point
        why = f"{INHERITED}{NEIGHBOUR} {where}: {(better.explanation or '').removeprefix(INHERITED)}"
        update = {"status": "infeasible", "lower_bound_ms": None, "bound_from": None, "explanation": why}
        return point.model_copy(update=update)
    if point.status == "infeasible" or better.lower_bound_ms is None:
        return point
    if point.lower_bound_ms is not None and point.lower_bound_ms >= better.lower_bound_ms:
        return point
    found = better.bound_from or ""
    source = found if found.startswith(NEIGHBOUR) else f"{NEIGHBOUR} {where}: {found}"
    return concluded(point.model_copy(update={"lower_bound_ms": better.lower_bound_ms, "bound_from": source}))


def concluded(point: SweepPoint, answer: Answer | None = None) -> SweepPoint:
    """Draw gap and status from value and bound, and write all into the point's answer, or into a new one.

    Raises
    ------
    SolverContradictionError
        If the bound lies above the value.
    """
    value, bound = point.value_ms, point.lower_bound_ms
    if value is not None and bound is not None and bound > value:
        raise SolverContradictionError(
            f"the bound of {point.bound_from} ({bound} ms) lies above a known schedule of {value} ms"
        )
    gap = relative_gap(None if value is None else to_ns(value), None if bound is None else to_ns(bound))
    status = "unknown" if value is None else "optimal" if value == bound else "feasible"
    held = answer or point.answer
    told = None if held is None else slim(held)
    if told is not None:
        lent = point.bound_from != told.objective.bound_from
        objective = told.objective.model_copy(
            update={"value_ms": value, "lower_bound_ms": bound, "bound_from": point.bound_from, "gap": gap}
        )
        update = {"objective": objective, "status": status}
        if status == "optimal":
            update["stop_reason"] = "proved"
        elif told.stop_reason == "stopped":  # by the gap to a neighbour's bound: others that are stopped are not kept
            update["stop_reason"] = "gap"
        if lent:  # its certificate is that of the other point
            update["certificate"] = None
        told = told.model_copy(update=update)
    return point.model_copy(update={"gap": gap, "status": status, "answer": told})


def slim(answer: Answer) -> Answer:
    """Leave out of an answer what only its own search is told by: history, and the argument of the bound."""
    certificate = None if answer.certificate is None else answer.certificate.model_copy(update={"data": {}})
    provenance = answer.provenance.model_copy(update={"history": []})
    return answer.model_copy(update={"certificate": certificate, "provenance": provenance})


__all__ = ["NEIGHBOUR", "Points", "bounded", "concluded", "settle", "slim"]
