"""The certificate of an open assignment: the parts of those that were listed, and that no other can be better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.answer.assigned import assignment_in
from crosspipe.certificate.rest import FAR, Rest, require_no_other
from crosspipe.certificate.verdict import Budget, RefusedError, Verdict
from crosspipe.certificate.verify import verify
from crosspipe.errors import ScheduleFormatError
from crosspipe.problem.compile import compile_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.assignment.opening import Opening
    from crosspipe.certificate.rest import Stage
    from crosspipe.costs.assignment import Assignment
    from crosspipe.problem.problem import Problem

MOST_LISTED = 100_000


def listed_as_data(opening: Opening, listed: Sequence[Assignment]) -> list[list[dict[str, Any]]]:
    """Write assignments as a certificate names them: as the answer's own `assignment` does."""
    names = [name for name, _ in opening.preparation.devices]
    return [
        [
            {"device": names[place], "end_item": end, "recompute": way}
            for end, place, way in zip(one.ends, one.devices, one.recompute, strict=True)
        ]
        for one in listed
    ]


def verify_whole(opening: Opening, data: Mapping[str, Any], most_work: int) -> Verdict:
    """Derive the bound of a certificate again for every assignment: those listed by their parts, the rest together.

    Raises
    ------
    RefusedError
        If the certificate names no assignments, or such as the spec does not allow.
    """
    rest = {name: value for name, value in data.items() if name != "assignments"}
    listed = _listed(opening, data.get("assignments"))
    problems = [_compiled(opening, one) for one in listed]
    verdict = verify(problems, rest, most_work, others=True)
    if verdict.outcome == "refused":
        return verdict
    require_no_other(opening.space, {_stages(opening, one) for one in listed}, rest["bound_ns"], Budget(most_work))
    return Verdict(
        verdict.ok,
        verdict.bound_ns,
        f"{len(listed)} assignments by their parts, every other one by its heads, tails and round trips",
        verdict.outcome,
    )


def verify_none(opening: Opening, most_work: int) -> Verdict:
    """Derive that no assignment fits at all."""
    found = Rest(opening.space, FAR, Budget(most_work)).unlisted(set())
    if found is None:
        return Verdict(True, None, "no cut of the layers fits the devices", "verified")
    return Verdict(
        False, None, "that no assignment has a schedule is the solver's word: it was not derived", "solver alone"
    )


def _listed(opening: Opening, given: object) -> list[Assignment]:
    if not isinstance(given, list) or not given or len(given) > MOST_LISTED:
        raise RefusedError("the spec leaves its assignment open, so a certificate lists the assignments it speaks of")
    found = []
    for rows in given:
        try:
            one = assignment_in({"assignment": rows}, opening.preparation)
        except ScheduleFormatError as error:
            raise RefusedError(f"a listed assignment cannot be: {str(error).splitlines()[-1]}") from error
        if one is None or len(set(one.devices)) != len(one.devices):
            raise RefusedError("a listed assignment must say where each stage ends, and give each a device of its own")
        if not all(opening.space.allows(first, end) for first, end in one.runs):
            raise RefusedError("a listed assignment has stages that the spec does not allow")
        found.append(one)
    return found


def _compiled(opening: Opening, assignment: Assignment) -> Problem:
    return compile_spec(opening.preparation.expand(assignment).spec, opening.digest)[0]


def _stages(opening: Opening, assignment: Assignment) -> tuple[Stage, ...]:
    places = [opening.space.class_of[device] for device in assignment.devices]
    return tuple(zip(places, assignment.ends, assignment.recompute, strict=True))


__all__ = ["listed_as_data", "verify_none", "verify_whole"]
