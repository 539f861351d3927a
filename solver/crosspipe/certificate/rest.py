"""That no assignment but those listed has a schedule below a bound: derived from the open assignment's numbers alone.

Every assignment is a way through states (devices used by class, class of the last, items placed). Rounds forward and
backward find the least that can stand before and after each stage; a stage with which no schedule stays below the bound
is crossed out, and the rounds go on while that raises anything. What ways are left are walked one by one, each with its
own numbers, and must be listed.

For one stage with times F, B, W of a microbatch, of which m run, at most c between F and the end of B, and at most k
between F and the end of W (by memory and caps), reached no sooner than h, with t still to follow its last B elsewhere
and r between its F and its B, a schedule lasts at least:

- h and all its work; h, all F and B, the W of m - k, then t;
- h, F, r, then the m - c F that cannot stand before the first B, all B and W (or the W of m - k, then t);
- as many trips F, r, B in a row as m / c rounded up, then t; trips with W as many as m / k rounded up;
- all F with the m - c B and m - k W that must stand before the last one, then r, B and t.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.certificate.verdict import PYTHON_STEP, RefusedError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.certificate.verdict import Budget
    from crosspipe.problem.space import Run, Space

FAR = 2**60
MOST_ROUNDS = 12

Place = tuple[tuple[int, ...], int]
"""Devices used of each class, and the class of the last."""
Stage = tuple[int, int, str]
"""Class of the device, the item it ends before, what it recomputes."""
State = tuple[int, Place, int]
"""Stages placed, place, items placed."""


class Rest:
    """The assignments of a space that may have a schedule below `bound_ns`."""

    def __init__(self, space: Space, bound_ns: int, budget: Budget) -> None:
        self._space, self._bound, self._budget = space, bound_ns, budget
        self._trains = all(space.run(item, item + 1, 0, "none").trains for item in range(space.items))
        self._hops: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._choices: dict[tuple[int, int], list[tuple[int, Run, str]]] = {}
        self._before: dict[State, tuple[int, int]] = {}
        self._trip: dict[State, int] = {}
        self._onward: dict[State, int] = {}
        for _ in range(MOST_ROUNDS):
            known = sum(self._trip.values()), sum(head for head, _ in self._before.values())
            self._go_forward()
            self._go_back()
            if known == (sum(self._trip.values()), sum(head for head, _ in self._before.values())):
                break

    def unlisted(self, listed: set[tuple[Stage, ...]]) -> tuple[Stage, ...] | None:
        """Find an assignment that may have a schedule below the bound and is not listed; None if there is none."""
        waiting: list[tuple[int, Place | None, int, int, int, tuple[Stage, ...]]] = [(0, None, 0, 0, 0, ())]
        while waiting:
            count, place, item, head, tail, stages = waiting.pop()
            if count and item == self._space.items and self._may_end(count):
                if stages not in listed and self._exact(stages) < self._bound:
                    return stages
                continue
            for following in self._following(place):
                there, back = self._hop(item, None if place is None else place[1], following[1])
                for end, run, way in self._runs(item, following[1]):
                    state = count + 1, following, end
                    reached, owed = head + there, head + there + (tail + back if self._trains else 0)
                    cost = self._lasts(reached, owed, self._trip.get(state, FAR), run)
                    if max(cost, self._onward.get(state, FAR)) < self._bound:
                        left = tail + back + run.backward_ns + (0 if count else run.weight_ns)
                        new = (*stages, (following[1], end, way))
                        waiting.append((count + 1, following, end, reached + run.forward_ns, left, new))
        return None

    def _may_end(self, count: int) -> bool:
        return self._space.leave_unused or count == self._space.devices

    def _following(self, place: Place | None) -> Iterator[Place]:
        """List the places of the next stage's device."""
        space = self._space
        used, last = ((0,) * len(space.classes), -1) if place is None else place
        for one, devices in enumerate(space.classes):
            if used[one] == len(devices.devices):
                continue
            if space.given_order and (one <= last or (one > last + 1 and not space.leave_unused)):
                continue
            yield tuple(count + (number == one) for number, count in enumerate(used)), one

    def _runs(self, item: int, one: int) -> list[tuple[int, Run, str]]:
        """List the stages that may begin with an item on a class of devices."""
        if (item, one) not in self._choices:
            found: list[tuple[int, Run, str]] = []
            for end in range(item + 1, self._space.items + 1):
                if not self._space.allows(item, end):
                    continue
                runs = [(end, self._space.run(item, end, one, way), way) for way in self._space.ways(item, end)]
                self._budget.spend(PYTHON_STEP * 100 * len(runs))
                if all(run.load_ns >= self._bound for _, run, _ in runs):
                    break
                found += [row for row in runs if row[1].in_flight]
            self._choices[item, one] = found
        return self._choices[item, one]

    def _hop(self, item: int, sender: int | None, receiver: int) -> tuple[int, int]:
        if sender is None:
            return 0, 0
        key = item, sender, receiver
        if key not in self._hops:
            there = self._space.hop_ns(item, sender, receiver, "none", Kind.ACTIVATION)
            trains = self._space.run(item - 1, item, sender, "none").trains
            back = self._space.hop_ns(item, sender, receiver, "none", Kind.GRADIENT) if trains else 0
            self._hops[key] = min(there, FAR), min(back, FAR)
        return self._hops[key]

    def _lasts(self, head: int, owed: int, trip: int, run: Run) -> int:
        """Tell how long a schedule lasts at least; `owed` is h + t."""
        if max(head, owed, trip) >= FAR:
            return FAR
        m, c, k = self._space.microbatches, run.in_flight, run.held
        f, b, w = run.forward_ns, run.backward_ns, run.weight_ns
        r = trip if self._trains else 0
        late = (m - k) * w
        return max(
            head + run.load_ns,
            owed + m * (f + b) + late,
            head + f + r + (m - c) * f + m * (b + w),
            owed + f + r + (m - c) * f + m * b + late,
            owed + -(-m // c) * (f + r + b),
            head + -(-m // k) * (f + r + b + w),
            owed + m * f + (m - c) * b + late + r + b,
        )

    def _go_forward(self) -> None:
        """Find the least h, and h + t, of every state from the start."""
        before: dict[State, tuple[int, int]] = {}
        front: dict[tuple[Place | None, int], tuple[int, int]] = {(None, 0): (0, 0)}
        for count in range(self._space.devices):
            found: dict[tuple[Place | None, int], tuple[int, int]] = {}
            for (place, item), (head, owed) in front.items():
                for following in self._following(place):
                    there, back = self._hop(item, None if place is None else place[1], following[1])
                    reached, owing = head + there, owed + there + back
                    runs = self._runs(item, following[1]) if item < self._space.items else []
                    self._budget.spend(PYTHON_STEP * 10 * len(runs))
                    old = before.get((count, following, item), (FAR, FAR))
                    before[count, following, item] = min(old[0], reached), min(old[1], owing)
                    for end, run, _ in runs:
                        state = count + 1, following, end
                        least = owing if self._trains else reached
                        if self._lasts(reached, least, self._trip.get(state, 0), run) >= self._bound:
                            continue
                        left = owing + run.forward_ns + run.backward_ns + (0 if count else run.weight_ns)
                        old = found.get((following, end), (FAR, FAR))
                        found[following, end] = min(old[0], reached + run.forward_ns), min(old[1], left)
            front = found
        self._before = before

    def _go_back(self) -> None:
        """Find the least round trip, and the least makespan, of every state to the end."""
        trips: dict[State, int] = {}
        onward: dict[State, int] = {}
        least: dict[State, tuple[int, int]] = {}
        reached = sorted({state[:2] for state in self._before}, reverse=True)
        items: dict[tuple[int, Place], list[int]] = {}
        for count, place, item in self._before:
            items.setdefault((count, place), []).append(item)
        for count, place in reached:
            # A stage on this place begins with each of these items; what follows is known from the round before.
            for item in items[count, place]:
                head, owed = self._before[count, place, item]
                owing = owed if self._trains else head
                for end, run, _ in self._runs(item, place[1]) if item < self._space.items else ():
                    state = count + 1, place, end
                    if state not in trips:
                        trips[state], onward[state] = self._beyond(state, least)
                    self._budget.spend(PYTHON_STEP * 10)
                    value = max(self._lasts(head, owing, trips[state], run), onward[state])
                    if value < self._bound:
                        key = count, place, item
                        first, second = least.get(key, (FAR, FAR))
                        trip = trips[state] + run.forward_ns + run.backward_ns
                        least[key] = min(first, trip), min(second, value)
        self._trip, self._onward = trips, onward

    def _beyond(self, state: State, least: dict[State, tuple[int, int]]) -> tuple[int, int]:
        """Least round trip and makespan beyond a stage that ends at an item."""
        count, place, item = state
        best = (0, 0) if item == self._space.items and self._may_end(count) else (FAR, FAR)
        if item == self._space.items:
            return best
        for following in self._following(place):
            key = count, following, item
            if key in least:
                trip, value = least[key]
                best = min(best[0], trip + sum(self._hop(item, place[1], following[1]))), min(best[1], value)
        return best

    def _exact(self, stages: tuple[Stage, ...]) -> int:
        """Tell how long a schedule of one assignment lasts at least, by its own numbers."""
        space = self._space
        starts = (0, *(end for _, end, _ in stages[:-1]))
        runs = [
            next(run for ends, run, name in self._runs(first, one) if ends == end and name == way)
            for first, (one, end, way) in zip(starts, stages, strict=True)
        ]
        hops = [
            self._hop(first, one[0], two[0]) for first, one, two in zip(starts[1:], stages, stages[1:], strict=False)
        ]
        most = head = tail = 0
        for number, run in enumerate(runs):
            trip = sum(sum(hop) for hop in hops[number:])
            trip += sum(later.forward_ns + later.backward_ns for later in runs[number + 1 :])
            owed = head + tail if self._trains else head
            most = max(most, self._lasts(head, owed, trip, run))
            if number < len(hops):
                head += run.forward_ns + hops[number][0]
                tail += run.backward_ns + hops[number][1] + (0 if number else run.weight_ns)
        self._budget.spend(PYTHON_STEP * 50 * len(runs) * max(1, space.devices))
        return most


def require_no_other(space: Space, listed: set[tuple[Stage, ...]], bound_ns: int, budget: Budget) -> None:
    """Require that no assignment but those listed has a schedule below a bound.

    Raises
    ------
    RefusedError
        If one may have, or if showing it takes too much work.
    """
    found = Rest(space, bound_ns, budget).unlisted(listed)
    if found is not None:
        ends = [end for _, end, _ in found]
        raise RefusedError(f"an assignment that is not listed, with stages that end at {ends}, may be below the bound")
