"""Verification: derive the bound of a certificate again, from the problems of a spec and the certificate's data alone.

A certificate is `{"version", "digest", "objective", "bound_ns", "parts"}`: one part for every candidate placement, in
order, as the best schedule of all may be on any of them; the bound is the least of theirs. A part is `{"traversal",
"kind", "bound_ns"}` and the data of its kind:

- `critical path`, `device load`, `lane load`, `start-up`, `last forward`, `round trip`, `count states`, `case split`:
  see the modules of this room. Every number is derived from the problem, none is taken on trust.
- `cases`: one part per way to take the recompute choices of `stages`, each true of its case; the bound is the least.
- `no room`, `no route`: no schedule exists on this placement; such a part has no `bound_ns`.
- `solver`: a bound by the word of the solver `name` alone; `also` is a part that can be derived, or null.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from crosspipe.certificate.count_states import COUNT_FIELDS, SPLIT_FIELDS, case_split, count_states
from crosspipe.certificate.energy import ENERGY_FIELDS, energy
from crosspipe.certificate.loads import LOAD_FIELDS, SPAN_LOAD_FIELDS, device_load, lane_load, span_load
from crosspipe.certificate.none import NO_ROOM_FIELDS, NO_ROUTE_FIELDS, no_room, no_route
from crosspipe.certificate.path import PATH_FIELDS, critical_path
from crosspipe.certificate.reading import integer, part_with, rows, text
from crosspipe.certificate.stages import (
    LAST_FORWARD_FIELDS,
    ROUND_TRIP_FIELDS,
    START_UP_FIELDS,
    last_forward,
    round_trip,
    start_up,
)
from crosspipe.certificate.subject import Subject, stated
from crosspipe.certificate.verdict import MOST_WORK, Budget, RefusedError, Verdict
from crosspipe.certificate.write import VERSION, where_of_cases
from crosspipe.problem.problem import Objective, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.certificate.reading import Part

FIELDS = ("version", "digest", "objective", "bound_ns", "parts")
MOST_STAGES_OF_CASES = 6

BOUNDS: dict[str, tuple[Sequence[str], Callable[[Subject, Part], int]]] = {
    "critical path": (PATH_FIELDS, critical_path),
    "device load": (LOAD_FIELDS, device_load),
    "lane load": (LOAD_FIELDS, lane_load),
    "span load": (SPAN_LOAD_FIELDS, span_load),
    "energy": (ENERGY_FIELDS, energy),
    "start-up": (START_UP_FIELDS, start_up),
    "last forward": (LAST_FORWARD_FIELDS, last_forward),
    "round trip": (ROUND_TRIP_FIELDS, round_trip),
    "count states": (COUNT_FIELDS, count_states),
    "case split": (SPLIT_FIELDS, case_split),
}

NO_SCHEDULE: dict[str, tuple[Sequence[str], Callable[[Subject, Part], None]]] = {
    "no room": (NO_ROOM_FIELDS, no_room),
    "no route": (NO_ROUTE_FIELDS, no_route),
}

Derived = tuple[int | None, int | None]
"""The bound a part states and the one derived; None where no schedule exists (stated) or nothing was derived."""


def verify(
    problems: Problem | Sequence[Problem], certificate: object, most_work: int = MOST_WORK, *, others: bool = False
) -> Verdict:
    """Derive a certificate's bound again.

    Parameters
    ----------
    problems
        All problems that the spec compiles to, one per candidate placement.
    certificate
        JSON data; anything at all is judged, nothing of it believed.
    most_work
        Elementary steps allowed; a certificate that asks for more is refused.
    others
        Whether there are more problems, of which the caller sees to it that none has a schedule below the bound: this
        may then be less than that of every part.
    """
    given = [problems] if isinstance(problems, Problem) else list(problems)
    try:
        return _judge(given, certificate, Budget(most_work), others=others)
    except RefusedError as refusal:
        return Verdict(False, None, str(refusal), "refused")


def _judge(problems: Sequence[Problem], certificate: object, budget: Budget, *, others: bool) -> Verdict:
    document = part_with(certificate, FIELDS, "the certificate")
    if type(document["version"]) is not int or document["version"] != VERSION:
        raise RefusedError(f"only certificates of version {VERSION} are known")
    if text(document, "digest") != problems[0].digest:
        raise RefusedError("the certificate is for another spec")
    if document["objective"] not in [objective.value for objective in Objective]:
        raise RefusedError("the certificate names no known objective")
    objective = Objective(document["objective"])
    parts = rows(document, "parts", len(problems))
    if len(parts) != len(problems):
        raise RefusedError(f"the spec leaves {len(problems)} placements, the certificate speaks of {len(parts)}")
    derived, names = [], []
    for problem, part in zip(problems, parts, strict=True):
        if not isinstance(part, dict) or part.get("traversal") != problem.traversal:
            raise RefusedError(f"a part must be for the {problem.traversal} placement")
        rest = {name: value for name, value in part.items() if name != "traversal"}
        derived.append(_part(Subject(problem, objective, budget), rest))
        names.append(f"{problem.traversal}: {part['kind']}, {part.get('where', part.get('name', part['kind']))}")
    stated_bounds = [bound for bound, _ in derived if bound is not None]
    if not stated_bounds and not others:
        if document["bound_ns"] is not None:
            raise RefusedError("no schedule exists, so there is no bound")
        return Verdict(True, None, f"no schedule exists ({'; '.join(names)})", "verified")
    bound = integer(document, "bound_ns")
    least = min(stated_bounds, default=bound)
    if bound > least or (bound < least and not others):
        raise RefusedError(f"bound_ns is {bound}, the least of the parts is {least}")
    found = [number for stated_bound, number in derived if stated_bound is not None]
    again = None if None in found else min((number for number in found if number is not None), default=bound)
    if again is not None and others:
        again = min(again, bound)
    if again is not None and again >= bound:
        return Verdict(True, bound, "; ".join(names), "verified")
    what = "nothing could be derived" if again is None else f"{again} ns could be derived"
    return Verdict(False, again, f"the bound is a solver's word alone; {what} ({'; '.join(names)})", "solver alone")


def _part(subject: Subject, part: object, *, nested: bool = False) -> Derived:
    """Judge one part (without its traversal)."""
    if not isinstance(part, dict) or not isinstance(part.get("kind"), str):
        raise RefusedError("a part must be an object with a kind")
    kind = part["kind"]
    if kind in NO_SCHEDULE:
        names, refute = NO_SCHEDULE[kind]
        refute(subject, part_with(part, ("kind", *names), f"a part of kind {kind}"))
        return None, None
    if kind in BOUNDS:
        names, derive = BOUNDS[kind]
        bound = derive(subject, part_with(part, ("kind", "bound_ns", *names), f"a part of kind {kind}"))
        return bound, bound
    if kind == "cases" and not nested:
        bound = _cases(subject, part_with(part, ("kind", "bound_ns", "where", "stages", "cases"), "a part by cases"))
        return bound, bound
    if kind == "solver" and not nested:
        return _solver(subject, part_with(part, ("kind", "bound_ns", "where", "name", "also"), "a solver's part"))
    raise RefusedError(f"a part of kind {kind[:40]!r} is not known here")


def _solver(subject: Subject, part: Part) -> Derived:
    bound = integer(part, "bound_ns")
    text(part, "where")
    text(part, "name")
    also = part["also"]
    if also is None:
        return bound, None
    found = _part(subject, also, nested=isinstance(also, dict) and also.get("kind") == "solver")[1]
    if found is None or found > bound:
        raise RefusedError("what is derived besides must be a bound, and below the solver's")
    return bound, found


def _cases(subject: Subject, part: Part) -> int:
    open_stages = {choice.stage for choice in subject.given.choices} if not subject.given.recomputed else set()
    stages = rows(part, "stages", MOST_STAGES_OF_CASES)
    plain = all(type(stage) is int for stage in stages)
    if not plain or not stages or stages != sorted(set(stages)) or not set(stages) <= open_stages:
        raise RefusedError("stages must be such whose recompute choice is open, ascending")
    if text(part, "where") != where_of_cases(stages):
        raise RefusedError(f"the argument speaks of {where_of_cases(stages)}")
    cases = rows(part, "cases", 2 ** len(stages))
    if len(cases) != 2 ** len(stages):
        raise RefusedError("every way to take the recompute choices must be a case")
    bounds = []
    for taken, case in zip(product((False, True), repeat=len(stages)), cases, strict=True):
        one = part_with(case, ("recomputed", "part"), "a case")
        recomputed = rows(one, "recomputed", len(stages))
        wanted = [stage for stage, yes in zip(stages, taken, strict=True) if yes]
        if recomputed != wanted or any(type(stage) is not int for stage in recomputed):
            raise RefusedError("a case is missing or out of order")
        bounds.append(_part(subject.case(dict(zip(stages, taken, strict=True))), one["part"], nested=True)[1])
    known = [bound for bound in bounds if bound is not None]
    if not known:
        raise RefusedError("no case has a schedule, so there is no bound")
    return stated(part, min(known))
