"""What must run on a device before an operation starts, or after it ends, and what memory asks for besides.

Written for microbatches that are alike and classes in index order. All that an operation waits for, directly or not, is
the first few of every class; all that waits for it, the last few.

Before. When F or a backward starts (and takes time), the device holds of one pool, with f forwards begun (that one
counted), b backwards over and x weights over of each stage: `a f - d b - w x`, summed, besides what the operation takes
for itself; a is taken by F, d given back by the backward, less what it took for W, w by W. It fits the room. Begun and
over is at least what must be. If that does not fit, there are N more backwards and X more weights over, with N times
the largest d and X times the largest w no less than what is too much, and X no more than there are backwards over
without their W. Every N is a case of its own, up to the first that needs no X.

After. Just before an operation ends (and takes time), all that is given back later is held, but for what forwards not
yet begun will take: `d r + w y - a p` for r backwards and y weights that end from then on and p forwards not begun. It
fits the room, so forwards enough to cover the rest are not begun: one case. (Where a backward takes more than it gives,
the fewest held are with as many backwards to come as weights.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosspipe.certificate.reach import counts
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crosspipe.certificate.held import Held
    from crosspipe.certificate.reach import Line
    from crosspipe.certificate.verdict import Budget
    from crosspipe.certificate.waits import Waits
    from crosspipe.problem.operations import IntArray

BACKWARDS = (Kind.B, Kind.BW)


@dataclass(frozen=True, slots=True)
class Some:
    """So many operations of a list, whichever; each takes at least `each_ns`."""

    among: list[int]
    count: int
    each_ns: int


Case = tuple[Some, ...]


@dataclass(slots=True)
class Crowd:
    """What must run before (after) one operation: all of `sure`, and for every pool what one of its cases says."""

    sure: list[int]
    pools: list[list[Case]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Amounts:
    """What one class takes (F) or gives back, of one pool, and what its operation takes for itself meanwhile."""

    taken: int = 0
    given: int = 0
    beside: int = 0


def crowds(
    lines: Sequence[Line], waits: Waits, pools: Iterable[Sequence[Held]], budget: Budget, *, after: bool
) -> dict[int, Crowd]:
    """Collect what must run before (after) each compute operation. `pools` are those with a limit."""
    table = counts(lines, waits, budget, after=after)
    by_device: dict[int, list[Line]] = {}
    for line in lines:
        by_device.setdefault(line.device, []).append(line)
    found: dict[int, Crowd] = {}
    for mine in by_device.values():
        for line in mine:
            for number in line.numbers:
                sure = [n for other in mine for n in _part(other, table[number, other.column], after)]
                found[number] = Crowd(sure)
    for pool in pools:
        mine = by_device.get(pool[0].device, []) if pool else []
        amounts = {line.column: _amounts(line, pool) for line in mine}
        if not any(one.taken for one in amounts.values()) or not _held_at_once(mine, pool):
            continue
        ask = _asked_after if after else _asked_before
        for line in mine:
            for place, number in enumerate(line.numbers):
                cases = ask(mine, line, place, table[number], amounts, int(pool[0].room or 0))
                if cases:
                    found[number].pools.append(cases)
    return found


def _part(line: Line, count: int, after: bool) -> list[int]:
    return line.numbers[len(line.numbers) - count :] if after else line.numbers[:count]


def _amounts(line: Line, pool: Sequence[Held]) -> _Amounts:
    for held in pool:
        if held.stage != line.stage:
            continue
        if line.kind == Kind.F:
            return _Amounts(taken=held.waiting(0) if held.backward is not None else 0, beside=held.in_forward[0])
        if line.kind == Kind.W:
            return _Amounts(given=held.after_backward(0))
        extra = held.backward_to_weight[0]
        return _Amounts(given=held.to_backward[0] - extra, beside=extra + held.in_backward[0])
    return _Amounts()


def _held_at_once(lines: Sequence[Line], pool: Sequence[Held]) -> bool:
    """Whether every F that takes something takes time, so that it is held when it starts."""
    takes = {held.stage for held in pool if held.waiting(0) + held.in_forward[0] > 0}
    return all(line.duration > 0 for line in lines if line.kind == Kind.F and line.stage in takes)


def _asked_before(
    lines: Sequence[Line], own: Line, place: int, row: IntArray, amounts: dict[int, _Amounts], room: int
) -> list[Case]:
    if own.kind == Kind.W or own.duration == 0:
        return []
    mine = amounts[own.column]
    need = mine.taken + mine.beside - room
    slack = 0
    backwards: list[int] = []
    weights: list[int] = []
    by_backward = [amounts[line.column].given for line in lines if line.kind in BACKWARDS]
    by_weight = max((amounts[line.column].given for line in lines if line.kind == Kind.W), default=0)
    for line in lines:
        count, one = int(row[line.column]), amounts[line.column]
        need += count * (one.taken - one.given)
        if line.kind in BACKWARDS:
            slack += count
            # Backwards of later stages come before this one for its own microbatch, and may for later ones.
            free = own.kind != Kind.F and line.stage > own.stage
            backwards += line.numbers[count:] if free else line.numbers[count:place]
        elif line.kind == Kind.W:
            slack -= count
            weights += line.numbers[count:]
    if need <= 0 or not by_backward:
        return []
    shortest = min(line.duration for line in lines if line.kind in BACKWARDS)
    shortest_weight = min((line.duration for line in lines if line.kind == Kind.W), default=0)
    cases: list[Case] = []
    for number in range(len(backwards) + 1):
        missing = max(0, need - number * max(by_backward))
        if missing > 0 and by_weight <= 0:
            continue
        more = -(-missing // by_weight) if missing > 0 else 0
        if more <= slack + number:
            cases.append((Some(backwards, number, shortest), Some(weights, more, shortest_weight)))
        if missing == 0:
            break
    return cases


def _asked_after(
    lines: Sequence[Line], own: Line, place: int, row: IntArray, amounts: dict[int, _Amounts], room: int
) -> list[Case]:
    if own.duration == 0:
        return []
    ends = {line.column: int(row[line.column]) + (line is own) for line in lines}
    weight_of = {line.stage: ends[line.column] for line in lines if line.kind == Kind.W}
    need = amounts[own.column].beside - room
    among: list[int] = []
    for line in lines:
        one, count = amounts[line.column], int(row[line.column])
        if line.kind == Kind.F:
            need -= one.taken * count
            first = place if own.kind == Kind.F and line.stage > own.stage else place + 1
            among += line.numbers[first : len(line.numbers) - count]
        elif line.kind == Kind.W or one.given >= 0:
            need += one.given * ends[line.column]
        else:
            need += one.given * max(ends[line.column], weight_of.get(line.stage, 0))
    if need <= 0:
        return []
    least = -(-need // max(amounts[line.column].taken for line in lines if line.kind == Kind.F))
    if least > len(among):
        return []
    return [(Some(among, least, min(line.duration for line in lines if line.kind == Kind.F)),)]
