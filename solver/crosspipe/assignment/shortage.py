"""Why no assignment fits: the memory that is missing in all, for one layer, or with the best of all cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.assignment.positions import positions_of
from crosspipe.bounds.obstacle import Obstacle, amount
from crosspipe.problem.rounding import to_bytes

if TYPE_CHECKING:
    from crosspipe.problem.space import Space

MOST_STEPS = 2_000_000
"""Beyond it the best of all cuts is not looked for."""

Shortage = tuple[int, int, int, int]
"""Bytes missing, bytes needed, device class, first item."""


def shortages(space: Space) -> tuple[Obstacle, ...]:
    """Say why no assignment fits the memory; nothing where that is not the reason."""
    for found in (_in_all(space), _one_item(space), _best_cut(space)):
        if found is not None:
            return (found,)
    return ()


def _in_all(space: Space) -> Obstacle | None:
    capacities = [rank.capacity_bytes for rank in space.ranks]
    known = [capacity for capacity in capacities if capacity is not None]
    needs = sum(_static(space, item, item + 1) for item in range(space.items))
    if space.longest >= space.items:
        needs = min(needs, _static(space, 0, space.items))  # ends that are tied are held once where they sit together
    if len(known) < len(capacities) or needs <= sum(known):
        return None
    has = sum(known)
    message = (
        f"memory: weights, gradients and optimizer state of all layers need {amount(needs, 'bytes')}, all devices of a "
        f"replica together have {amount(has, 'bytes')}"
    )
    return Obstacle(
        "memory", "all devices", needs, has, "bytes", needs, message, {"needs_bytes": needs, "has_bytes": has}
    )


def _one_item(space: Space) -> Obstacle | None:
    if space.longest == 1:
        return None
    for item in range(space.items):
        places = [place for place in range(len(space.classes)) if space.may_hold(item, item + 1, place)]
        short = min(_short(space, item, item + 1, place) for place in places)
        if short[0] > 0:
            return _told(space, item, item + 1, short, "whatever the cut")
    return None


def _best_cut(space: Space) -> Obstacle | None:
    """Find the cut and order whose fullest device lacks least."""
    positions = positions_of(space)
    steps = 0 if positions is None else sum(map(len, positions.layers)) * space.items * space.items // 2
    if positions is None or steps > MOST_STEPS:
        return None
    best: dict[tuple[int, int], tuple[Shortage, int]] = {}
    last = len(positions.layers) - 1
    for layer in reversed(range(len(positions.layers))):
        onward = best
        best = {}
        for number, position in enumerate(positions.layers[layer]):
            for first in range(space.items):
                ways = []
                for end in range(first + 1, space.items + 1):
                    if not space.allows(first, end) or not space.may_hold(first, end, position.last):
                        continue
                    own = _short(space, first, end, position.last), end
                    if end == space.items and (layer == last or space.leave_unused):
                        ways.append(own)
                    following = positions.after[layer][number]
                    ways += [max(own, onward[after, end]) for after in following if (after, end) in onward]
                if ways:
                    best[number, first] = min(ways)
    starts = [best[number, 0] for number in range(len(positions.layers[0])) if (number, 0) in best]
    if not starts:
        return None
    short, end = min(starts)
    return _told(space, short[3], end, short, "even with the best of all cuts") if short[0] > 0 else None


def _told(space: Space, first: int, end: int, short: Shortage, when: str) -> Obstacle:
    _, needs, place, _ = short
    rank = space.classes[place].rank
    has = rank.capacity_bytes or 0
    layers = space.stage(first, end, "none").layers or f"{first} to {end - 1}"
    message = (
        f"memory: {when}, a device such as {rank.name} needs {amount(needs, 'bytes')} for the layers {layers} and one "
        f"microbatch, it has {amount(has, 'bytes')}"
    )
    facts: dict[str, object] = {"device": rank.name, "layers": layers, "needs_bytes": needs, "has_bytes": has}
    return Obstacle("memory", rank.name, needs, has, "bytes", needs, message, facts)


def _static(space: Space, first: int, end: int) -> int:
    return min(to_bytes(space.stage(first, end, way).static_mb) for way in space.ways(first, end))


def _short(space: Space, first: int, end: int, place: int) -> Shortage:
    """Tell what a stage lacks on a device of a class for one microbatch, with the recomputation that needs least."""
    capacity = space.classes[place].rank.capacity_bytes
    needs = []
    for way in space.ways(first, end):
        stage = space.stage(first, end, way)
        once = space.least_multiplier * (stage.activation_mb + stage.backward_extra_mb)
        needs.append(to_bytes(stage.static_mb) + to_bytes(once))
    least = min(needs)
    return (-(2**60) if capacity is None else least - capacity), least, place, first
