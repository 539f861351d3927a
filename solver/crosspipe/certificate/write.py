"""Writing certificates: what a bound's argument says of itself, in the form that verification reads.

Nothing is derived here. A part written from numbers that do not hold is refused when it is verified.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosspipe.certificate.count_states import COUNT_FIELDS, SPLIT_FIELDS, WHERE
from crosspipe.certificate.energy import ENERGY_FIELDS
from crosspipe.certificate.loads import LOAD_FIELDS, SPAN_LOAD_FIELDS
from crosspipe.certificate.path import PATH_FIELDS
from crosspipe.certificate.stages import LAST_FORWARD_FIELDS, ROUND_TRIP_FIELDS, START_UP_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERSION = 1

FIELDS: dict[str, Sequence[str]] = {
    "critical path": PATH_FIELDS,
    "device load": LOAD_FIELDS,
    "lane load": LOAD_FIELDS,
    "span load": SPAN_LOAD_FIELDS,
    "energy": ENERGY_FIELDS,
    "start-up": START_UP_FIELDS,
    "last forward": LAST_FORWARD_FIELDS,
    "round trip": ROUND_TRIP_FIELDS,
    "count states": COUNT_FIELDS,
    "case split": SPLIT_FIELDS,
}
"""Kinds that are derived, and their fields besides kind and bound."""

Part = dict[str, Any]


def part_of(kind: str, where: str, bound_ns: int, data: Mapping[str, Any]) -> Part | None:
    """Write a bound as a part; None if its kind cannot be derived or its data do not say enough."""
    if kind in ("count states", "case split"):
        data = {**data, "target_ns": bound_ns - 1}
        where = WHERE
    known = {**data, "where": where}
    names = FIELDS.get(kind)
    if names is None or not set(names) <= known.keys():
        return None
    return {"kind": kind, "bound_ns": bound_ns} | {name: known[name] for name in names}


def derivable(kind: str, data: Mapping[str, Any]) -> bool:
    """Whether a bound of this kind with these data can be derived again."""
    return kind in FIELDS and (kind != "case split" or "tree" in data)


def cases_of(stages: Sequence[int], cases: Sequence[tuple[Sequence[int], Part]]) -> Part | None:
    """Write a bound by cases from (recomputed stages, part) of each, in the order of `verify`; None if none bounds."""
    bounds = [part["bound_ns"] for _, part in cases if "bound_ns" in part]
    if not bounds:
        return None
    return {
        "kind": "cases",
        "bound_ns": min(bounds),
        "where": where_of_cases(stages),
        "stages": list(stages),
        "cases": [{"recomputed": list(recomputed), "part": part} for recomputed, part in cases],
    }


def where_of_cases(stages: Sequence[int]) -> str:
    """Name what an argument by cases speaks of."""
    return f"recompute choices of stages {', '.join(map(str, stages))}"


def solver_part(name: str, where: str, bound_ns: int, also: Part | None) -> Part:
    """Write a bound that is a solver's word, with the best that can be derived besides."""
    return {"kind": "solver", "bound_ns": bound_ns, "where": where, "name": name, "also": also}


def certificate_of(digest: str, objective: str, parts: Sequence[tuple[str, Part]]) -> dict[str, Any]:
    """Put a certificate together from (traversal, part) of every placement."""
    bounds = [part["bound_ns"] for _, part in parts if "bound_ns" in part]
    return {
        "version": VERSION,
        "digest": digest,
        "objective": objective,
        "bound_ns": min(bounds, default=None),
        "parts": [{"traversal": traversal, **part} for traversal, part in parts],
    }
