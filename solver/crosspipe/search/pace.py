"""How much work dives may do: by the clock, or counted where runs must repeat exactly."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

DIVE_S = 1.5
"""Seconds one dive should take at most; nodes are counted out by the speed seen so far."""

FIRST_NODES = 600
"""Nodes of a dive where the speed is not known yet, or work is counted."""

FEWEST_NODES = 500
"""Nodes that a dive has at least where the speed is known."""

FEWEST_REFUTING = 50
"""The same for one that is to refute."""

SLOW_S = 5.0
"""Where the way to a leaf takes longer than this, dives after the first rise above the bound at once."""

FEWEST_VISITS = 50_000
"""Count states that a dive counts for at least: beginning one takes as long as visiting these."""


@dataclass(slots=True)
class Pace:
    """What dives may still do, and what they have done so far.

    Attributes
    ----------
    most_s
        Seconds after which the dives end.
    most_visits
        Count states visited, each node all of the lattice, after which they end; every dive then has a fixed number of
        nodes.
    states
        Count states of the lattice.
    depth
        Nodes on the way to a leaf, about.
    began
        When dives began, on the clock of `time.monotonic`.
    nodes, seconds
        Of all dives so far.
    refuting
        Factor on the nodes of a dive that is to refute; grows while none does.
    jump
        Ticks above the bound at which the next dive is to refute: doubled by a success, halved by a failure.
    longer
        Factor on the nodes of every dive.
    """

    most_s: float = float("inf")
    most_visits: int | None = None
    states: int = 1
    depth: int = 1
    began: float = field(default_factory=time.monotonic)
    nodes: int = 0
    seconds: float = 0.0
    refuting: float = 1.0
    jump: int = 0
    longer: float = 1.0

    def over(self) -> bool:
        """Whether the dives must end."""
        if self.most_visits is not None:
            return self.nodes * self.states >= self.most_visits
        return time.monotonic() - self.began >= self.most_s

    def allowance(self, left_s: float, refuting: bool) -> int:
        """Nodes of the next dive."""
        patience = self.longer * (self.refuting if refuting else 1.0)
        if self.most_visits is not None:
            return max(1, min(int(FIRST_NODES * patience), self.most_visits // self.states - self.nodes))
        if self.seconds == 0.0:
            return max(int(FIRST_NODES * self.longer), self.depth)
        speed = self.nodes / self.seconds
        if refuting:
            return max(FEWEST_REFUTING, int(speed * min(left_s, DIVE_S * patience)))
        # A dive for a schedule that ends short of a leaf is in vain.
        return max(FEWEST_NODES, int(min(speed * left_s, max(speed * DIVE_S * patience, self.depth))))

    def count(self, nodes: int, seconds: float) -> None:
        """Learn from a dive; where work is counted, even the smallest costs something."""
        if self.most_visits is not None:
            nodes = max(nodes, FEWEST_VISITS // self.states)
        self.nodes, self.seconds = self.nodes + nodes, self.seconds + seconds

    @property
    def slow(self) -> bool:
        """Whether a leaf is so far that not many dives may go to one target."""
        return self.most_visits is None and self.depth * self.seconds > SLOW_S * self.nodes
