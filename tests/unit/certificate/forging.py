"""Certificates of small problems, and every way to alter one of them in one place."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from crosspipe.answer.certify import certificate_of_parts, derivable_part
from crosspipe.bounds.best import all_bounds
from crosspipe.problem.problem import Objective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.problem import Problem

Certificate = dict[str, Any]


def certificate(problem: Problem, part: dict[str, Any], objective: Objective = Objective.MAKESPAN) -> Certificate:
    """A certificate of one part, as it comes out of a file."""
    read: Certificate = json.loads(json.dumps(certificate_of_parts(objective, [(problem, part)])))
    return read


def certificates(problem: Problem, objective: Objective = Objective.MAKESPAN) -> list[Certificate]:
    """One certificate for every closed argument that bounds the problem."""
    parts = [derivable_part(bound) for bound in all_bounds(problem, objective)]
    assert None not in parts
    return [certificate(problem, part, objective) for part in parts if part is not None]


def of_kind(problem: Problem, kind: str, objective: Objective = Objective.MAKESPAN) -> Certificate:
    """The certificate of one kind with the largest bound."""
    found = [one for one in certificates(problem, objective) if one["parts"][0]["kind"] == kind]
    return max(found, key=lambda one: one["bound_ns"])


def forgeries(given: Certificate, tick_ns: int) -> Iterator[tuple[str, Any]]:
    """Alter one thing at a time: (what, the whole certificate with it)."""
    yield from _root(given)
    yield from _claims(given, tick_ns)
    for path, value in _leaves(given):
        name = "/".join(map(str, path))
        for what, other in _others(path, value):
            yield f"{name}: {what}", _with(given, path, other)
    for path, value in _inner(given):
        name = "/".join(map(str, path))
        if isinstance(value, dict):
            for key in value:
                yield f"{name}: without {key}", _with(given, path, {k: v for k, v in value.items() if k != key})
            yield f"{name}: with one field more", _with(given, path, value | {"more": 1})
        else:
            for place in range(len(value)):
                yield f"{name}: without entry {place}", _with(given, path, value[:place] + value[place + 1 :])
            if value:
                yield f"{name}: last entry twice", _with(given, path, value + value[-1:])
        yield f"{name}: null", _with(given, path, None)


def _root(given: Certificate) -> Iterator[tuple[str, Any]]:
    yield "nothing", {}
    yield "null", None
    yield "a list", [given]
    yield "a text", json.dumps(given)
    yield "another spec", given | {"digest": "0" * 64}
    yield "another version", given | {"version": 2}


def _claims(given: Certificate, tick_ns: int) -> Iterator[tuple[str, Any]]:
    """State another bound everywhere at once, all else as it is."""
    for step in (tick_ns, 1, 10 * tick_ns):
        forged = copy.deepcopy(given)
        forged["bound_ns"] += step
        for part in forged["parts"]:
            part["bound_ns"] += step
        yield f"a bound {step} ns higher", forged


def _others(path: tuple[str | int, ...], value: Any) -> Iterator[tuple[str, Any]]:
    if path[-1] in ("objective", "waits") or (len(path) > 1 and path[-2] == "waits"):
        # The span has bounds of its own, and a wait may have two reasons: other tests see to these.
        yield "no such word", "longest"
        return
    if value is None:
        yield from [("a number", 0), ("a text", "none"), ("false", False), ("a list", [])]
        return
    yield "not a number", float("nan")
    yield "infinite", float("inf")
    yield "null", None
    yield "a list", [value]
    yield "an object", {"value": value}
    yield "true", True
    if isinstance(value, str):
        yield "a letter more", value + "x"
        yield "empty", ""
        return
    yield "a fraction", value + 0.5
    yield "as a float", float(value)
    yield "a text", str(value)
    yield "one more", value + 1
    yield "one less", value - 1
    yield "negative", -value - 1
    yield "huge", 10**30
    yield "twice as much", 2 * value + 2


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    for key, inner in _entries(value):
        if isinstance(inner, dict | list):
            yield from _leaves(inner, (*path, key))
        else:
            yield (*path, key), inner


def _inner(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    for key, inner in _entries(value):
        if isinstance(inner, dict | list):
            yield (*path, key), inner
            yield from _inner(inner, (*path, key))


def _entries(value: Any) -> list[tuple[str | int, Any]]:
    return list(value.items()) if isinstance(value, dict) else list(enumerate(value))


def _with(given: Certificate, path: tuple[str | int, ...], value: Any) -> Certificate:
    forged = copy.deepcopy(given)
    place: Any = forged
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return forged
