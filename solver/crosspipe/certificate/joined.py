"""Extra operations in count states: each by itself, and joined where they run on one device or lane.

Joined, the k-th *place* is the interval that begins with the k-th of them to run and lasts as long as the shortest.
Of the starts in a schedule by the target: with n joined, the k-th place begins no earlier than the k-th smallest of the
earliest starts, as k of them have begun by then, and no later than the k-th smallest of the latest, as none of the
n - k + 1 from there on begins before it. Of m that one operation waits for, the last has the m-th place or a later one;
of m that wait for one operation, the first has the m-th last place or an earlier one. Those that may be exchanged run,
in some best schedule, in the order of their numbers, so that the k-th has the k-th place if all of a class may.

They are joined as finely as that leaves few states: by all that makes them alike, else by duration, else all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from crosspipe.certificate.waits import Waits
    from crosspipe.problem.problem import Problem

MOST_ON_A_LANE = 100_000
MOST_ON_A_DEVICE = 8
"""Most states of a lane, its messages counted in, and most that a device's states are multiplied by."""


@dataclass(slots=True)
class Extra:
    """One extra operation.

    Attributes
    ----------
    waits, feeds
        By class of the chain or of W, how many of its operations this waits for (or come after this), at first or
        second hand, and the lag.
    onward
        Extra operations that wait for this one, with the lag.
    """

    number: int
    duration: int
    resource: int
    waits: dict[int, tuple[int, int]] = field(default_factory=dict)
    feeds: dict[int, tuple[int, int]] = field(default_factory=dict)
    onward: list[tuple[int, int]] = field(default_factory=list)


def extras_of(problem: Problem, waits: Waits, class_of: dict[int, int]) -> dict[int, Extra]:
    """Look all extra operations up, each behind those it waits for; `class_of` gives the class of other operations."""
    ops = problem.operations
    numbers = [number for number in waits.topological if ops.kind[number] == Kind.EXTRA]
    found = {n: Extra(n, int(ops.duration_ns[n]), int(ops.resource[n])) for n in numbers}
    into: dict[int, list[tuple[int, int]]] = {n: [] for n in numbers}
    own_waits: dict[int, dict[int, list[int]]] = {n: {} for n in numbers}
    own_feeds: dict[int, dict[int, list[int]]] = {n: {} for n in numbers}
    for (first, second), lag in waits.given.items():
        if first in found and second in found:
            found[first].onward.append((second, lag))
            into[second].append((first, lag))
        elif second in found and first in class_of:
            own_waits[second].setdefault(class_of[first], []).append(lag)
            if ops.kind[first] == Kind.W:
                # Its own backward comes before it: `chain_of` has seen to that.
                backward = int(problem.numbers[Kind.B, 0, ops.stage[first], ops.microbatch[first]])
                own_waits[second].setdefault(class_of[backward], []).append(int(ops.duration_ns[first]) + lag)
        elif first in found and second in class_of:
            own_feeds[first].setdefault(class_of[second], []).append(lag)
    for n in numbers:
        through = [(found[other].waits, found[other].duration + lag) for other, lag in into[n]]
        found[n].waits = _most(own_waits[n], through)
    for n in reversed(numbers):
        through = [(found[other].feeds, found[other].duration + lag) for other, lag in found[n].onward]
        found[n].feeds = _most(own_feeds[n], through)
    return found


def _most(
    own: dict[int, list[int]], through: Iterable[tuple[dict[int, tuple[int, int]], int]]
) -> dict[int, tuple[int, int]]:
    best = {place: (len(lags), min(lags)) for place, lags in own.items()}
    for others, more in through:
        for place, (count, lag) in others.items():
            best[place] = max(best.get(place, (0, 0)), (count, lag + more))
    return best


def joined(
    problem: Problem, extras: dict[int, Extra], messages: dict[int, list[int]]
) -> list[tuple[int, tuple[int, ...]]]:
    """Resource and members of each joined class; `messages` lists the sizes of the classes of each lane."""
    on: dict[int, list[int]] = {}
    for _, number in problem.extras:
        if number in extras and extras[number].resource >= 0:
            on.setdefault(extras[number].resource, []).append(number)
    alike = interchangeable(problem)
    classes: list[tuple[int, tuple[int, ...]]] = []
    for resource, numbers in on.items():
        most = MOST_ON_A_DEVICE
        if resource >= len(problem.devices):
            most = MOST_ON_A_LANE // math.prod(count + 1 for count in messages.get(resource, []))
        for names in (alike, {n: extras[n].duration for n in numbers}, dict.fromkeys(numbers, 0)):
            groups: dict[Hashable, list[int]] = {}
            for n in numbers:
                groups.setdefault(names[n], []).append(n)
            if math.prod(len(group) + 1 for group in groups.values()) <= most:
                classes += [(resource, tuple(group)) for group in groups.values()]
                break
    return classes


def interchangeable(problem: Problem) -> dict[int, Hashable]:
    """Equal values for extra operations that may be exchanged: equal in all that a problem says of them."""
    ops, waits, held = problem.operations, problem.precedences, problem.holdings
    holders = set(held.taken_by.tolist()) | set(held.given_by.tolist())
    names: dict[int, Hashable] = {}
    for _, n in problem.extras:
        into, out = waits.after == n, waits.before == n
        before = sorted(zip(waits.before[into].tolist(), waits.lag_ns[into].tolist(), strict=True))
        after = sorted(zip(waits.after[out].tolist(), waits.lag_ns[out].tolist(), strict=True))
        due = None if problem.due_ns is None else int(problem.due_ns[n])
        said = (int(ops.duration_ns[n]), int(ops.resource[n]), due, tuple(before), tuple(after))
        names[n] = n if n in holders else said
    return names
