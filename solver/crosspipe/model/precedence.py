"""An operation waits for what it needs: `start(after) >= start(before) + duration(before) + lag`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.model.arcs import Arcs

if TYPE_CHECKING:
    from crosspipe.model.ticks import Ticks


def precedence_arcs(ticks: Ticks) -> Arcs:
    """One arc per precedence of the problem: inputs, arrivals, backward after forward, extra operations."""
    links = ticks.problem.precedences
    return Arcs(links.before, links.after, ticks.duration[links.before] + ticks.lag)
