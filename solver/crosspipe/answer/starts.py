"""Schedules to start from: answers to other specs whose operations are those of this one, timed and judged for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosspipe.answer.judge import RejectedAnswerError, judge
from crosspipe.answer.models import Answer
from crosspipe.answer.restore import LONGEST_NS, orders_of_times
from crosspipe.answer.units import to_ns
from crosspipe.errors import DeadlockError, DoesNotFitError, Fault, NeverOpensError, OptionError
from crosspipe.problem.operations import NO_RESOURCE, Kind
from crosspipe.schedule.joint import join_lanes
from crosspipe.schedule.measure import fits, makespan_ns, span_ns, value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.timed import timed
from crosspipe.search.search import Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.problem.operations import IntArray
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders, Schedule
    from crosspipe.search.clock import Clock

SLACK_S = 0.5
"""Starts are looked at even after the time limit if no more than this has passed."""

Times = dict[tuple[int | str, ...], tuple[int, int]]
"""Start and end in ns by what an operation is: kind, stage, microbatch, replica, leg, lane, or an extra one's name."""

ON_DEVICE = ""
"""Stands for the lane of what a device runs."""


def starts_of(
    answers: Sequence[Answer], problems: Sequence[Problem], objective: Objective, clock: Clock
) -> tuple[list[Start], list[str]]:
    """Time and judge the schedule of each answer for the problem of its placement.

    Returns
    -------
    tuple
        The schedules that fit, and for each answer that has none a line that says why.

    Raises
    ------
    OptionError
        If what is given is no list of answers.
    """
    if not isinstance(answers, list | tuple):
        raise OptionError([Fault("/start", "must be a list of answers", type(answers).__name__)])
    for at, answer in enumerate(answers):
        if not isinstance(answer, Answer):
            rule = "must be an answer, as `solve` returns it or `Answer.model_validate` reads it"
            raise OptionError([Fault(f"/start/{at}", rule, type(answer).__name__)])
    starts: list[Start] = []
    ignored: list[str] = []
    for number, answer in enumerate(answers, 1):
        name = f"start {number}" if len(answers) > 1 else "start"
        if clock.left_s == 0 and clock.seconds > SLACK_S:
            ignored.append(f"{name} was ignored: no time was left to look at it")
            continue
        try:
            starts.append(_start(answer, problems, objective, name))
        except (DoesNotFitError, RejectedAnswerError) as reason:
            ignored.append(f"{name} was ignored: {reason}")
    return starts, ignored


def _start(answer: Answer, problems: Sequence[Problem], objective: Objective, name: str) -> Start:
    places = [place for place, problem in enumerate(problems) if problem.traversal == answer.traversal]
    stated = [(stage.layers, stage.device) for stage in answer.assignment]
    alike = [place for place in places if _placed(problems[place]) == stated]
    places = alike or places
    if not answer.devices or any(device.operations is None for device in answer.devices):
        raise DoesNotFitError("it holds no operations")
    if not places:
        raise DoesNotFitError(f"its traversal, {answer.traversal}, is none of this spec's")
    problem = problems[places[0]]
    schedule = _best(problem, answer, objective)
    whole = resolved(problem, schedule.orders)
    judge(problem, schedule, makespan_ns(schedule), span_ns(whole, schedule))
    return Start(places[0], schedule, value_ns(whole, schedule, objective), name)


def _placed(problem: Problem) -> list[tuple[str | None, str]]:
    return [(stage.layers, problem.devices[stage.device].name) for stage in problem.stages]


def _best(problem: Problem, answer: Answer, objective: Objective) -> Schedule:
    """Time the orders of an answer, those of its lanes or those of readiness.

    Raises
    ------
    DoesNotFitError
        If neither is a schedule of the problem.
    """
    known: list[tuple[int, int, Schedule]] = []
    reason = "its orders wait for each other here"
    for way, orders in enumerate(_orders(problem, answer)):
        try:
            schedule = timed(problem, orders, objective)
        except (DeadlockError, NeverOpensError) as error:
            reason = str(error)
            continue
        whole = resolved(problem, orders)
        if fits(whole, schedule):
            known.append((value_ns(whole, schedule, objective), way, schedule))
        else:
            reason = "its orders need more memory, more in flight or more time than there is"
    if not known:
        raise DoesNotFitError(reason)
    return min(known, key=lambda found: found[:2])[2]


def _orders(problem: Problem, answer: Answer) -> Iterator[Orders]:
    recomputed = frozenset(answer.recomputed_stages)
    if not recomputed <= {choice.stage for choice in problem.choices}:
        raise DoesNotFitError("it recomputes stages that have no such option here")
    times = _readable_times(answer)
    ops, extras = problem.operations, {number: name for name, number in problem.extras}
    start, end = np.zeros(len(ops), dtype=np.int64), np.zeros(len(ops), dtype=np.int64)
    compute, lanes_known = 0, True
    devices = len(problem.devices)
    columns = (ops.kind, ops.stage, ops.microbatch, ops.replica, ops.leg, ops.resource)
    for number, (kind, stage, microbatch, replica, leg, resource) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if resource == NO_RESOURCE:
            continue
        lane = problem.lanes[resource - devices].name if resource >= devices else ON_DEVICE
        key = (extras[number],) if number in extras else (kind, stage, microbatch, replica, leg, lane)
        if key in times:
            start[number], end[number] = times[key]
        elif kind <= Kind.BW:
            raise DoesNotFitError(f"it has no {problem.label(number)}")
        else:
            lanes_known = False
        compute += kind <= Kind.BW
    if compute != sum(len(key) > 1 and key[-1] == ON_DEVICE for key in times):
        raise DoesNotFitError("it has operations that this spec has not")
    orders = orders_of_times(problem, start, end, recomputed)
    if lanes_known:
        yield orders
    try:
        yield join_lanes(problem, [_compute_only(problem, rows) for rows in orders.sequences[:devices]], recomputed)
    except (DeadlockError, NeverOpensError) as error:
        if not lanes_known:
            raise DoesNotFitError(str(error)) from error


def _compute_only(problem: Problem, rows: IntArray) -> IntArray:
    return rows[problem.operations.kind[rows] <= Kind.BW]


def _readable_times(answer: Answer) -> Times:
    """Read when everything runs; answers may come from files.

    Raises
    ------
    DoesNotFitError
        If a kind is unknown, a column is too short, or a time is none that is computed with.
    """
    try:
        times = _times(answer)
    except (KeyError, ValueError, OverflowError) as error:
        raise DoesNotFitError(f"its operations cannot be read ({error})") from error
    if any(abs(time) > LONGEST_NS for pair in times.values() for time in pair):
        raise DoesNotFitError(f"its times lie beyond {LONGEST_NS} ns")
    return times


def _times(answer: Answer) -> Times:
    times: Times = {}
    for device in answer.devices:
        if (table := device.operations) is not None:
            rows = zip(table.kind, table.stage, table.microbatch, table.start_ms, table.end_ms, strict=True)
            for kind, stage, microbatch, start, end in rows:
                key = (Kind[kind], stage, microbatch, device.replica, 0, ON_DEVICE)
                times[key] = to_ns(start), to_ns(end)
    for lane in answer.transfers:
        if (sent := lane.operations) is not None:
            named = zip(sent.kind, sent.stage, sent.microbatch, sent.replica, sent.leg, strict=True)
            for (kind, *name), start, end in zip(named, sent.start_ms, sent.end_ms, strict=True):
                times[Kind[kind.upper()], *name, lane.lane] = to_ns(start), to_ns(end)
    for extra in answer.extra_operations:
        times[(extra.name,)] = to_ns(extra.start_ms), to_ns(extra.end_ms)
    return times
