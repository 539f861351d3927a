"""The points of a sweep, every combination of the axes' values, and which of them are better than which."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from crosspipe.costs.expand import expand
from crosspipe.errors import Fault, OptionError, SpecError
from crosspipe.problem.compile import compile_spec
from crosspipe.problem.relaxation import relaxes
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.openness import leaves_choices
from crosspipe.sweeps.axes import Axis, named_axis, plain
from crosspipe.sweeps.kinds import BANDWIDTH, SAME, Setting, Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crosspipe.problem.problem import Problem
    from crosspipe.spec.model import Spec
    from crosspipe.sweeps.models import Value

MOST_POINTS = 10_000

COMPILED_AT_ONCE = 64
"""Compiled problems that are kept while neighbours are compared."""

Place = tuple[int, ...]
"""A point by the place of its value on each axis."""


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One point: where it stands, its values, and its spec."""

    place: Place
    settings: tuple[Setting, ...]
    spec: Spec
    digest: str
    reference: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """A sweep's points.

    Attributes
    ----------
    axes
        As they were given.
    points
        Points by place, in the order of the axes; those that are a reference only come last on their axis.
    better
        For each point its neighbours that are never worse: one step better on one axis, and no schedule of the point
        is not one of theirs.
    worse
        The same the other way.
    order
        An order in which better points stand before worse ones.
    left_out
        Why reference points could not be made, or None.
    """

    axes: tuple[Axis, ...]
    points: dict[Place, GridPoint]
    better: dict[Place, list[Place]]
    worse: dict[Place, list[Place]]
    order: list[Place]
    left_out: str | None

    def at(self, place: Place) -> dict[str, Value]:
        """Say where a point stands, as JSON data."""
        point = self.points[place]
        return {axis.name: plain(value) for axis, value in zip(self.axes, point.settings, strict=True)}

    def said(self, place: Place) -> str:
        """Say where a point stands, for people."""
        point = self.points[place]
        return ", ".join(axis.said(value) for axis, value in zip(self.axes, point.settings, strict=True))

    def beside(self, place: Place) -> list[Place]:
        """List the neighbours whose operations are the same, as far as is known: those on axes with a better end."""
        return [*self.better[place], *self.worse[place]]


def grid_of(spec: Spec, axes: Mapping[str, Sequence[object]]) -> Grid:
    """Make every point, and find which neighbours are better than which.

    Raises
    ------
    OptionError
        If an axis or one of its values is unknown, or there are too many points.
    SpecError
        If the spec is invalid at a point; the message names the first such point.
    """
    tree = tree_of(spec)
    given: object = axes  # whatever an untyped caller passes
    if not isinstance(given, Mapping):
        raise OptionError([Fault("/axes", "must map what varies to its values", type(given).__name__)])
    found = tuple(named_axis(name, values, tree) for name, values in axes.items())
    if not found:
        raise OptionError([Fault("/axes", "must hold an axis at least", "none")])
    for factor, amount in SAME:
        if {factor, amount} <= {axis.word for axis in found}:
            raise OptionError([Fault(f"/axes/{factor}", f"must not stand beside `{amount}`, which sets the same")])
    for axis in found:
        if axis.place is not None and any(other.name == axis.word for other in found):
            rule = f"must not stand beside `{axis.word}`, which sets it everywhere"
            raise OptionError([Fault(f"/axes/{axis.name}", rule, axis.place)])
    count = 1
    for axis in found:
        count *= len(axis.values)
    if count > MOST_POINTS:
        raise OptionError([Fault("/axes", f"must make at most {MOST_POINTS} points", str(count))])
    listed = [axis.values for axis in found]
    points = _points(found, listed, tree)
    left_out = None
    for number, axis in enumerate(found):
        if axis.word == BANDWIDTH:
            # Transfers that take no time: what finite bandwidths are compared with.
            free = [*listed[:number], (None,), *listed[number + 1 :]]
            try:
                beyond = _points(found, free, tree, {number: len(axis.values)})
            except SpecError as error:
                left_out = str(error)
                continue
            points |= beyond
    better = _better(found, points)
    worse: dict[Place, list[Place]] = {place: [] for place in points}
    for place, several in better.items():
        for one in several:
            worse[one].append(place)
    return Grid(found, points, better, worse, _best_first(found, points), left_out)


def tree_of(spec: Spec) -> Tree:
    """Write a spec as plain data, what is left at its default left out."""
    tree: Tree = _as_written(spec.model_dump(mode="python", by_alias=True, exclude_defaults=True))
    return tree


def _as_written(value: Any) -> Any:
    """Spell keys as in a file: those that number stages are numbers once read."""
    if isinstance(value, dict):
        return {str(key): _as_written(one) for key, one in value.items()}
    return [_as_written(one) for one in value] if isinstance(value, list) else value


def _points(
    axes: Sequence[Axis], listed: Sequence[Sequence[Setting]], tree: Tree, shifted: Mapping[int, int] | None = None
) -> dict[Place, GridPoint]:
    """Make the points of all combinations; `shifted` says where the values of an axis begin, if not at 0."""
    begin = shifted or {}
    points: dict[Place, GridPoint] = {}
    for place in product(*(range(len(values)) for values in listed)):
        settings = tuple(values[at] for values, at in zip(listed, place, strict=True))
        spec = _spec_at(axes, settings, tree)
        where = tuple(at + begin.get(axis, 0) for axis, at in enumerate(place))
        points[where] = GridPoint(where, settings, spec, spec_digest(spec), bool(begin))
    return points


def _spec_at(axes: Sequence[Axis], settings: Sequence[Setting], tree: Tree) -> Spec:
    """Write the values into the spec, and see that it compiles."""
    changed = deepcopy(tree)
    try:
        for axis, value in zip(axes, settings, strict=True):
            axis.write(changed, value)
        spec = parse_spec(changed)
        compile_spec(expand(spec).spec, spec_digest(spec))
    except SpecError as error:
        where = ", ".join(f"{axis.name} {plain(value)}" for axis, value in zip(axes, settings, strict=True))
        raise type(error)([replace(fault, rule=f"{fault.rule} (at {where})") for fault in error.faults]) from error
    return spec


def _better(axes: Sequence[Axis], points: Mapping[Place, GridPoint]) -> dict[Place, list[Place]]:
    @lru_cache(maxsize=COMPILED_AT_ONCE)
    def compiled(place: Place) -> tuple[Problem, ...]:
        point = points[place]
        return compile_spec(expand(point.spec).spec, point.digest)

    found: dict[Place, list[Place]] = {}
    for place in points:
        found[place] = []
        for number, axis in enumerate(axes):
            step = axis.kind.better
            other = (*place[:number], place[number] + step, *place[number + 1 :])
            # Where choices are open the problem of one of them says nothing of the others.
            known = step and other in points and not leaves_choices(points[place].spec)
            if known and _never_worse(compiled(other), compiled(place)):
                found[place].append(other)
    return found


def _never_worse(better: Sequence[Problem], worse: Sequence[Problem]) -> bool:
    """Whether each placement of the worse one has an easier counterpart."""
    known = {problem.traversal: problem for problem in better}
    return len(better) == len(worse) and all(
        problem.traversal in known and relaxes(known[problem.traversal], problem) for problem in worse
    )


def _best_first(axes: Sequence[Axis], points: Mapping[Place, GridPoint]) -> list[Place]:
    def rank(place: Place) -> tuple[Place, int]:
        apart = tuple(at for at, axis in zip(place, axes, strict=True) if not axis.kind.better)
        return apart, -sum(at * axis.kind.better for at, axis in zip(place, axes, strict=True))

    return sorted(points, key=rank)
