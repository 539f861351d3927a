"""The certificate of an answer: the arguments of its bounds, in the form that `crosspipe verify` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.bounds.memory_need import short_pools
from crosspipe.bounds.relax import relaxed
from crosspipe.certificate.verify import verify
from crosspipe.certificate.write import cases_of, certificate_of, part_of, solver_part
from crosspipe.problem.operations import Kind
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.bounds.bound import Bound
    from crosspipe.problem.problem import Problem
    from crosspipe.search.incumbents import Candidate

Part = dict[str, Any]

LITTLE_WORK = 5 * 10**7
"""Elementary steps (some tenths of a second) for trying to derive a solver's bound by count states."""


def derivable_part(bound: Bound) -> Part | None:
    """Write a bound as a part that can be derived again; None if its argument cannot."""
    data: dict[str, Any] = bound.data
    if "arguments" not in data:
        return part_of(bound.name, bound.where, bound.value_ns, data)
    parts: list[tuple[Sequence[int], Part]] = []
    for recomputed, argument in zip(data["recomputed"], data["arguments"], strict=True):
        if argument["name"] == "no room":
            parts.append((recomputed, {"kind": "no room", "where": argument["where"]} | argument["data"]))
            continue
        part = part_of(argument["name"], argument["where"], argument["value_ns"], argument["data"])
        if part is None:
            return None
        parts.append((recomputed, part))
    return cases_of(data["stages"], parts)


def no_schedule_part(problem: Problem) -> Part | None:
    """Write why a placement has no schedule; None if none of the reasons that can be derived again applies."""
    for need in short_pools(relaxed(problem)):
        where = problem.resource_name(problem.pools[need.pool].device)
        return {
            "kind": "no room",
            "where": where,
            "pool": need.pool,
            "microbatch": need.microbatch,
            "needs": need.amount,
        }
    for hop in problem.hops:
        if hop.missing:
            where = f"{problem.devices[hop.sender].name} to {problem.devices[hop.receiver].name}"
            message = "activation" if hop.kind is Kind.ACTIVATION else "gradient"
            return {"kind": "no route", "where": where, "boundary": hop.boundary, "message": message}
    return None


def counted_part(problem: Problem, objective: Objective, bound_ns: int) -> Part | None:
    """Write a bound of unknown argument as one by count states, if little work shows that these derive it as well."""
    part = part_of("count states", "", bound_ns, {})
    if part is None or objective is not Objective.MAKESPAN:
        return None
    verdict = verify(problem, certificate_of_parts(objective, [(problem, part)]), LITTLE_WORK)
    return part if verdict.ok else None


def part_for_candidate(candidate: Candidate, objective: Objective, bound_ns: int) -> Part:
    """Write what is known of a placement where no schedule of any placement is below `bound_ns`."""
    known = candidate.derivable
    also = None if known is None else derivable_part(known)
    if also is not None and also["bound_ns"] >= bound_ns:
        return also
    if candidate.infeasible:
        reasons = ", ".join(dict.fromkeys(obstacle.reason for obstacle in candidate.obstacles)) or "cp-sat"
        part = no_schedule_part(candidate.problem)
        return solver_part(reasons, "no schedule exists", bound_ns, also) if part is None else part
    bound = candidate.bound
    if bound is None:
        raise ValueError("a placement without a bound leaves none for the whole")
    counted = counted_part(candidate.problem, objective, bound.value_ns)
    return solver_part(bound.name, bound.where, bound.value_ns, also) if counted is None else counted


def derived_ns(parts: Sequence[Part]) -> int | None:
    """Bound that is left where a solver's word does not count; None if some placement then has none."""
    bounds: list[int | None] = []
    for part in parts:
        if part["kind"] == "solver":
            bounds.append(None if part["also"] is None else part["also"]["bound_ns"])
        elif "bound_ns" in part:
            bounds.append(part["bound_ns"])
    known = [bound for bound in bounds if bound is not None]
    return None if len(known) < len(bounds) else min(known, default=None)


def certificate_of_parts(objective: Objective, parts: Sequence[tuple[Problem, Part]]) -> dict[str, Any]:
    """Put the parts of all placements of a spec together."""
    return certificate_of(parts[0][0].digest, objective.value, [(problem.traversal, part) for problem, part in parts])


__all__ = [
    "certificate_of_parts",
    "counted_part",
    "derivable_part",
    "derived_ns",
    "no_schedule_part",
    "part_for_candidate",
]
