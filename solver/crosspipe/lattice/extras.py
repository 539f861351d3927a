"""Extra operations in the lattice: classes of their own, and their places on devices and lanes (`ties.py` ties them).

Every extra operation is a class of its own, without a machine, that carries its window. On the machine it occupies it
is one of a joint class whose k-th operation is whichever runs there k-th: index order is no assumption then. For a
schedule of makespan at most T let p be the durations in such a class, d the shortest, and let its k-th *place* be the
interval of length d that begins with the k-th of them. Then, each line for the starts of any such schedule:

* the k-th place starts no earlier than the k-th smallest earliest start, as k of them have started by its start; and no
  later than the k-th smallest latest start, as it starts no later than the n - k + 1 from there on;
* an operation that waits for m others of a class starts after the m-th place (index) of that class, as the last of the
  m has that place or a later one; one that m others wait for ends before the last place but m - 1, likewise;
* places lie within what really runs, so they overlap with nothing else on the machine, and while the lane is open;
* members that may be exchanged run in the order of their numbers in some best schedule: the k-th has the k-th place.

Joining extra operations of unlike durations loosens, which keeps refutations valid; classes are as fine as the number
of states allows. What extra operations hold of memory is left out, which loosens, too.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

from crosspipe.lattice.nodes import Node
from crosspipe.problem.likeness import likeness
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from crosspipe.problem.problem import Problem

MOST_STATES_MORE = 100_000
"""States of a lane, its messages and extra operations together, up to which classes are made finer."""

MOST_ON_A_DEVICE = 8
"""The same for the factor by which they multiply the states of a device."""


def places_of(problem: Problem, nodes: Sequence[Node], tick: int) -> list[Node]:
    """List the joint classes of extra operations on devices and lanes, as fine as the states allow.

    A class holds operations that are alike in all, in their duration, or in nothing but where they run. A machine on
    which even one class would be too many gets none. `nodes` are the other classes.
    """
    found: list[Node] = []
    ops = problem.operations
    on: dict[int, list[int]] = defaultdict(list)
    for _, number in problem.extras:
        if ops.resource[number] >= 0:
            on[int(ops.resource[number])].append(number)
    alike = likeness(problem)
    for resource, numbers in on.items():
        lane = resource >= len(problem.devices)
        messages = prod(node.count + 1 for node in nodes if node.machine == resource) if lane else 1
        most = MOST_STATES_MORE // messages if lane else MOST_ON_A_DEVICE
        keys: tuple[Callable[[int], Hashable], ...] = (
            alike.__getitem__,
            lambda n: int(ops.duration_ns[n]),
            lambda _: 0,
        )
        for key in keys:
            groups: dict[Hashable, list[int]] = defaultdict(list)
            for number in numbers:
                groups[key(number)].append(number)
            if prod(len(group) + 1 for group in groups.values()) <= most:
                for group in groups.values():
                    shortest = int(ops.duration_ns[group].min()) // tick
                    found.append(Node(Kind.EXTRA, (), shortest, 0, resource, len(group), tuple(group)))
                break
    return found


def single_nodes(problem: Problem, tick: int) -> list[Node]:
    """Give every extra operation a class of its own, in an order in which each comes behind those it waits for."""
    duration = problem.operations.duration_ns
    return [Node(Kind.EXTRA, (), int(duration[n]) // tick, 0, -1, 1, (n,)) for n in _in_order(problem)]


def _in_order(problem: Problem) -> list[int]:
    extras = {number for _, number in problem.extras}
    waits = problem.precedences
    among = [
        (before, after)
        for before, after in zip(waits.before.tolist(), waits.after.tolist(), strict=True)
        if before in extras and after in extras
    ]
    waiting = {number: 0 for _, number in problem.extras}
    for _, after in among:
        waiting[after] += 1
    order = [number for number, count in waiting.items() if count == 0]
    for number in order:
        for before, after in among:
            if before == number:
                waiting[after] -= 1
                if waiting[after] == 0:
                    order.append(after)
    return order
