"""The certificate of an answer: the arguments of its bounds, in the form that `crosspipe verify` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.certificate.write import cases_of, certificate_of, part_of, solver_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.bounds.bound import Bound
    from crosspipe.problem.problem import Objective, Problem

Part = dict[str, Any]


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


def part_for(bound: Bound, derivable: Bound | None) -> Part:
    """Write a bound, with the best one besides that can be derived if this one is a solver's word."""
    part = derivable_part(bound)
    if part is not None:
        return part
    return solver_part(
        bound.name, bound.where, bound.value_ns, None if derivable is None else derivable_part(derivable)
    )


def certificate_for(objective: Objective, parts: Sequence[tuple[Problem, Part]]) -> dict[str, Any]:
    """Put the parts of all placements of a spec together."""
    return certificate_of(parts[0][0].digest, objective.value, [(problem.traversal, part) for problem, part in parts])


__all__ = ["certificate_for", "derivable_part", "part_for"]
