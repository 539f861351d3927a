"""The classes of operations that one microbatch passes through, for bounds by count states.

Microbatches are alike and there is one replica, so some best schedule runs every class in index order. The chain is F
of every stage in order, with the messages between, then the backwards from the last stage down to the last one that has
any; each class starts a fixed lag after the one before, looked up among the problem's waits. All W of a device make one
further class, counted with the shortest of their durations: it does not matter which W is run. Extra operations make
classes as `joined.py` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.certificate.held import backward_of, gradients_reach_down
from crosspipe.certificate.joined import extras_of, joined
from crosspipe.certificate.verdict import RefusedError
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from crosspipe.certificate.joined import Extra
    from crosspipe.certificate.waits import Waits
    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Problem

Step = tuple[Kind, int, int]
"""Kind, stage (of a message its lower one) and leg of a class."""


@dataclass(frozen=True, slots=True)
class Link:
    """One class.

    Attributes
    ----------
    name
        `F 3`, `B 3` (also for a combined backward), `activation 2`, `gradient 2` (`gradient 2 leg 1`: over the second
        link on its way); `W 1` for all W of device 1,
        `extra 17` for those joined with operation 17.
    kind, stages
        W joins stages, extra operations have none, any other class has one.
    duration
        The shortest, ns.
    lag
        From its start to the earliest start of the next class of the chain, ns; 0 for the last and for W.
    resource
        Device or lane.
    count
        Operations in it.
    members
        Their numbers, index by index; of W and joined extra operations in no order.
    """

    name: str
    kind: Kind
    stages: tuple[int, ...]
    duration: int
    lag: int
    resource: int
    count: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """All classes: those of the chain in its order, then W of each device, then joined extra operations.

    `extras` are these one by one, each behind those it waits for.
    """

    links: tuple[Link, ...]
    length: int
    extras: dict[int, Extra]


def chain_of(problem: Problem, waits: Waits) -> Chain:
    """Look the chain up.

    Raises
    ------
    RefusedError
        If the conditions do not hold.
    """
    if problem.replicas != 1 or not waits.alike or not gradients_reach_down(problem):
        raise RefusedError("count states ask for one replica and microbatches that are alike")
    steps = _steps(problem)
    links = []
    for place, step in enumerate(steps):
        kind, stage, _ = step
        numbers = _numbers(problem, step)
        duration = int(problem.operations.duration_ns[numbers[0]])
        lag = 0
        if place + 1 < len(steps):
            lag = duration + _lag(problem, waits, step, steps[place + 1])
        resource = int(problem.operations.resource[numbers[0]])
        links.append(Link(_name(step), kind, (stage,), duration, lag, resource, len(numbers), tuple(numbers.tolist())))
    weights = []
    for number, device in enumerate(problem.devices):
        stages = tuple(s for s in sorted(device.stages) if problem.number(Kind.W, s, 0) is not None)
        for stage in stages:
            backward = backward_of(problem, stage, 0)
            if backward is None or backward is Kind.BW:
                raise RefusedError(f"W of stage {stage} has no backward to follow")
            _lag(problem, waits, (backward, stage, 0), (Kind.W, stage, 0))
        if stages:
            durations = [int(problem.operations.duration_ns[problem.numbers[Kind.W, 0, s, 0]]) for s in stages]
            count = len(stages) * problem.microbatches
            members = tuple(int(n) for stage in stages for n in problem.numbers[Kind.W, 0, stage])
            weights.append(Link(f"W {number}", Kind.W, stages, min(durations), 0, number, count, members))
    found = [*links, *weights]
    class_of = {number: place for place, link in enumerate(found) for number in link.members}
    extras = extras_of(problem, waits, class_of)
    messages: dict[int, list[int]] = {}
    for link in links:
        messages.setdefault(link.resource, []).append(link.count)
    for resource, members in joined(problem, extras, messages):
        shortest = min(extras[number].duration for number in members)
        name = f"extra {min(members)}"
        found.append(Link(name, Kind.EXTRA, (), shortest, 0, resource, len(members), members))
    return Chain(tuple(found), len(links), extras)


def _steps(problem: Problem) -> list[Step]:
    """List the classes in chain order."""
    stages = range(len(problem.stages))
    steps: list[Step] = []
    for stage in stages:
        steps += [(Kind.F, stage, 0), *_legs(problem, Kind.ACTIVATION, stage)]
    for stage in reversed(stages):
        backward = backward_of(problem, stage, 0)
        if backward is None:
            break
        steps += [*_legs(problem, Kind.GRADIENT, stage), (backward, stage, 0)]
    return steps


def _legs(problem: Problem, kind: Kind, boundary: int) -> list[Step]:
    """List the links on the way of a message on which it queues."""
    there = problem.numbers_by_leg[:, kind, 0, boundary, 0] >= 0
    return [(kind, boundary, leg) for leg, queues in enumerate(there.tolist()) if queues]


def _numbers(problem: Problem, step: Step) -> IntArray:
    kind, stage, leg = step
    found: IntArray = problem.numbers_by_leg[leg, kind, 0, stage]
    return found


def _name(step: Step) -> str:
    kind, stage, leg = step
    what = {Kind.ACTIVATION: "activation", Kind.GRADIENT: "gradient", Kind.BW: "B"}.get(kind, kind.name)
    return f"{what} {stage} leg {leg}" if leg else f"{what} {stage}"


def _lag(problem: Problem, waits: Waits, first: Step, second: Step) -> int:
    """Lag that every microbatch's operation of one class waits after the end of its operation of another."""
    pairs = zip(*(_numbers(problem, step).tolist() for step in (first, second)), strict=True)
    lags = [waits.given.get(pair) for pair in pairs]
    known = [lag for lag in lags if lag is not None]
    if len(known) < len(lags):
        raise RefusedError(f"{_name(second)} does not wait for {_name(first)}")
    return min(known)
