"""Improvement by neighbourhoods: windows of time, on all devices or some, that CP-SAT orders anew.

Four kinds of move take turns, chosen by what they have gained so far: all devices or a part of them (twice the time
then), strictly better or equal value (which walks along plateaus). A window grows after a proof that it cannot help and
shrinks after a timeout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosspipe.model.window import Move, Moves

if TYPE_CHECKING:
    from crosspipe.schedule.orders import Schedule
    from crosspipe.search.shared import Shared

FIRST_OPERATIONS = 260
FEWEST_OPERATIONS = 40
MOST_OPERATIONS = 2_000
MOVE_S, EQUAL_MOVE_S = 1.5, 0.3
"""Most time of a move; an equal one is never done, as there is always a smaller sum of starts to look for."""

WIDER, NARROWER = 1.1, 0.93


@dataclass(slots=True)
class MoveKind:
    """One kind of move, how large it is now, and what it has gained.

    Attributes
    ----------
    subset
        Whether only some devices are ordered anew.
    equal
        Whether a schedule of equal value will do.
    operations
        About so many are ordered anew.
    tried, gained
        Moves made, and how many of them gained something; one that gained an equal schedule counts for little.
    """

    subset: bool
    equal: bool
    operations: float = FIRST_OPERATIONS
    tried: int = 1
    gained: float = 1.0

    @property
    def promise(self) -> float:
        """Share of tries that gained, with optimism for what has been tried little."""
        return self.gained / self.tried


class WindowMoves:
    """Moves on the best schedule of one problem; `step` makes one."""

    def __init__(self, shared: Shared, seed: int) -> None:
        self._shared, self._seed = shared, seed
        self._rng = np.random.default_rng(seed)
        self._kinds = [MoveKind(subset, equal) for subset in (False, True) for equal in (False, True)]
        self._moves: Moves | None = None

    @property
    def applies(self) -> bool:
        """Whether there is a schedule."""
        return self._shared.schedule is not None

    def step(self) -> None:
        """Make one move; a better or equal schedule is offered."""
        shared = self._shared
        schedule, before = shared.schedule, shared.value_ns
        if schedule is None:
            return
        if self._moves is None:
            shared.begin("neighbourhoods")
            self._moves = Moves(shared.problem, shared.objective)
        self._seed += 1
        kind = self._kinds[int(self._rng.choice(len(self._kinds), p=_odds(self._kinds)))]
        move = _place(shared, schedule, kind, self._rng)
        most_s = min(EQUAL_MOVE_S if kind.equal else MOVE_S, shared.left_s)
        moved = self._moves.make(schedule, move, (most_s, self._seed), shared.ended)
        kind.tried += 1
        if moved.orders is not None:
            better = shared.offer(moved.orders, "neighbourhood", equal=kind.equal)
            kind.gained += 1.0 if better and shared.value_ns != before else 0.05
        elif moved.proved_useless:
            kind.operations = min(MOST_OPERATIONS, kind.operations * WIDER)
        else:
            kind.operations = max(FEWEST_OPERATIONS, kind.operations * NARROWER)


def _odds(kinds: list[MoveKind]) -> list[float]:
    promise = [kind.promise + 0.1 for kind in kinds]
    return [p / sum(promise) for p in promise]


def _place(shared: Shared, schedule: Schedule, kind: MoveKind, rng: np.random.Generator) -> Move:
    """Choose devices and a window that holds about the wanted number of operations of open order."""
    problem = shared.problem
    devices: frozenset[int] | None = None
    count = len(problem.devices)
    wanted = kind.operations
    if kind.subset and count > 2:
        size = int(rng.integers(max(1, count // 4), count // 2 + 1))
        first = int(rng.integers(0, count - size + 1))
        devices = frozenset(range(first, first + size))
        wanted *= min(2.0, count / size)
    starts = np.sort(schedule.start_ns)
    size = min(len(starts), int(wanted))
    place = int(rng.integers(-size // 2, max(1, len(starts) - size // 2)))
    low = int(starts[max(0, place)])
    end = place + size
    high = int(schedule.end_ns.max()) + 1 if end >= len(starts) else int(starts[end])
    return Move(low, max(high, low + 1), devices, kind.equal)
