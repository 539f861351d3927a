"""Necessary conditions for any schedule to exist, checked before any search.

Each condition is proved in its own module to hold for every feasible problem; none of them failing proves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.bounds.deadline_obstacle import deadline_obstacles
from crosspipe.bounds.gathered_obstacle import gathered_obstacles
from crosspipe.bounds.graph import graph_of
from crosspipe.bounds.lane_obstacle import lane_obstacles
from crosspipe.bounds.memory_obstacle import memory_obstacles
from crosspipe.bounds.obstacle import Obstacle
from crosspipe.bounds.relax import relaxed
from crosspipe.bounds.route_obstacle import route_obstacles

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def obstacles(problem: Problem) -> tuple[Obstacle, ...]:
    """List what makes the problem infeasible, whatever its open recompute choices; empty = nothing found.

    Deadlines are looked at only if all messages can pass: until then no bound on time says anything.
    """
    graph = graph_of(relaxed(problem))
    blocked = route_obstacles(problem) + lane_obstacles(graph)
    late = () if blocked else deadline_obstacles(problem, graph)
    return memory_obstacles(problem) + gathered_obstacles(problem) + blocked + late


__all__ = ["Obstacle", "obstacles"]
