"""Which devices a pipeline has used so far: the positions from which it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.problem.space import Space

MOST_POSITIONS = 20_000
"""With more ways to have used the devices, no bound is made of them."""


@dataclass(frozen=True, slots=True)
class Position:
    """Devices used of each class, and the class of the last one."""

    used: tuple[int, ...]
    last: int


@dataclass(frozen=True, slots=True)
class Positions:
    """All positions, by the number of stages placed.

    Attributes
    ----------
    layers
        Positions after the first stage, after the second, ...
    after
        For each layer and position the numbers of those that may follow, in the next layer.
    """

    layers: tuple[tuple[Position, ...], ...]
    after: tuple[tuple[tuple[int, ...], ...], ...]


def positions_of(space: Space) -> Positions | None:
    """List the positions of a space; None where there are too many."""
    stages = min(space.devices, space.items)
    front = dict.fromkeys(_next(space, None))
    layers, after = [tuple(front)], []
    count = len(front)
    for _ in range(1, stages):
        following: dict[Position, int] = {}
        rows = []
        for position in layers[-1]:
            row = [following.setdefault(step, len(following)) for step in _next(space, position)]
            rows.append(tuple(row))
        count += len(following)
        if count > MOST_POSITIONS:
            return None
        if not following:
            break
        layers.append(tuple(following))
        after.append(tuple(rows))
    after.append(tuple(() for _ in layers[-1]))
    return Positions(tuple(layers), tuple(after))


def _next(space: Space, position: Position | None) -> list[Position]:
    classes = range(len(space.classes))
    used = (0,) * len(space.classes) if position is None else position.used
    if space.given_order:
        least = 0 if position is None else position.last + 1
        most = len(space.classes) if space.leave_unused else least + 1
        allowed = list(range(least, min(most, len(space.classes))))
    else:
        allowed = [place for place in classes if used[place] < len(space.classes[place].devices)]
    return [Position((*used[:place], used[place] + 1, *used[place + 1 :]), place) for place in allowed]
