"""Construct, bound, improve, then second terms: the whole search of one spec within its time limit."""

from __future__ import annotations

import math
import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from crosspipe.search.clock import Clock
from crosspipe.search.construct import construct
from crosspipe.search.improve import STARTUP_S, improve
from crosspipe.search.incumbents import Board, Candidate
from crosspipe.search.second_terms import SecondTerms, reserved_s, second_terms
from crosspipe.search.supplied import FIRST, NEXT, take
from crosspipe.search.ties import settle_ties
from crosspipe.search.wire import OUT_OF_MEMORY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule
    from crosspipe.search.options import SolveOptions
    from crosspipe.search.progress import Progress
    from crosspipe.search.runner import ChildResult
    from crosspipe.search.supply import Supply

SLACK_S = 0.5
"""A further placement is constructed even after the time limit if no more than this has passed; else only its bound."""

MOST_RESERVED = 0.3
"""Share of the time left that may be kept for what follows the search (checking, comparing, writing the answer)."""

SHORTEST_S = 2.0
"""Least time for a turn of a placement, where there is as much: below, starting takes most of it."""

MOST_TURNS = 5
"""With a supply of problems one turn gets at least this part of the time left: more of them may always come."""

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
StopReason = Literal["proved", "gap", "time_limit", "stopped", "cancelled", "memory_limit"]


@dataclass(frozen=True, slots=True)
class Start:
    """A schedule that is known before the search begins; the one who gives it has had it judged.

    Attributes
    ----------
    candidate
        Which of the problems it is for.
    schedule, value_ns, source
        The schedule, its value, and what to call the one who made it.
    """

    candidate: int
    schedule: Schedule
    value_ns: int
    source: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found.

    Attributes
    ----------
    status
        `optimal` only where value and bound meet exactly.
    stop_reason
        Why the search ended.
    board
        Every candidate with its best schedule, bound, families and obstacles; and the history.
    seconds
        Time taken.
    solver_notes
        What the solving processes reported besides (`died with exit code -9`, ...).
    second_terms
        What the best schedule comes to in its second terms, None without a schedule.
    """

    status: Status
    stop_reason: StopReason
    board: Board
    seconds: float
    solver_notes: tuple[str, ...]
    second_terms: SecondTerms | None = None


def search(
    problems: Sequence[Problem],
    options: SolveOptions,
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    clock: Clock | None = None,
    starts: Sequence[Start] = (),
    supply: Supply | None = None,
) -> Outcome:
    """Search all candidate placements of a spec; `clock` runs since the spec was validated.

    None of `starts` is worsened: each is taken for its candidate where it is better than what is constructed. What the
    spec leaves open besides `problems` comes from `supply`, and bound and status speak of all of it.
    """
    clock = clock or Clock(options.time_limit_s, should_stop)
    board = Board([Candidate(problem) for problem in problems], clock, on_progress)
    board.rest = None if supply is None else supply.bound()
    for candidate in board.candidates:
        # The first placement that may have a schedule gets its construction whatever the limit: an answer comes always.
        late = clock.left_s == 0 and clock.seconds > SLACK_S and not options.deterministic
        bound_only = board.value_ns is not None and (late or clock.asked_to_stop())
        construct(board, candidate, options, bound_only=bound_only)
    for start in starts:
        board.offer(board.candidates[start.candidate], start.schedule, start.value_ns, start.source)
    if supply is not None:
        take(board, supply, options, FIRST if clock.left_s or options.deterministic else 0)
    best = board.best
    # Checking and comparing the answer takes about as long as constructing the best candidate did.
    after_s = 0.0 if best is None else best.construction_s
    more_s = 0.0 if best is None else reserved_s(len(best.problem.operations), options)
    clock.reserve_s = min(MOST_RESERVED * clock.left_s, after_s + more_s)
    notes: list[str] = []
    memory = False
    waiting, cut_short = list(board.candidates), list[Candidate]()
    while not _done(board, options) and clock.left_s >= STARTUP_S and not clock.asked_to_stop():
        waiting = [candidate for candidate in waiting if board.worth(candidate)]
        if not waiting:
            # All have had their turn; what time is left goes to those that could have used more.
            waiting, cut_short = [candidate for candidate in cut_short if board.worth(candidate)], []
            known = len(board.candidates)
            if not waiting and supply is not None and not options.deterministic:
                waiting = take(board, supply, options, FIRST)
            if not waiting and len(board.candidates) == known:
                break
            if not waiting:
                continue  # what was taken has no schedule that could be best; the supply may have more
        candidate = _next(waiting, by_value=supply is not None and len(notes) % 2 == 0)
        waiting.remove(candidate)
        turns = len(waiting) if board.rest is None else MOST_TURNS
        share_s = max(clock.left_s / (turns + 1), min(SHORTEST_S, clock.left_s))
        until_s = clock.seconds + share_s
        result = improve(board, candidate, options, until_s)
        if clock.seconds >= until_s:
            cut_short.append(candidate)
        notes.append(_note(candidate, result))
        if supply is not None and not options.deterministic:
            waiting += take(board, supply, options, NEXT)
        memory = memory or result.exit_code in (-signal.SIGKILL, OUT_OF_MEMORY)
    clock.reserve_s = min(clock.reserve_s, after_s)
    if supply is not None and _done(board, options) and not board.infeasible:
        settle_ties(board, supply, options)
    second = second_terms(board, options, searched=bool(notes))
    clock.reserve_s = 0.0
    return replace(_outcome(board, options, clock, tuple(notes), memory), second_terms=second)


def _next(waiting: Sequence[Candidate], *, by_value: bool) -> Candidate:
    """Choose whose turn it is: the best schedule, which may become the best of all, or the least bound."""
    if by_value and any(candidate.value_ns is not None for candidate in waiting):
        return min(waiting, key=lambda c: math.inf if c.value_ns is None else c.value_ns)
    return min(waiting, key=lambda c: 0 if c.bound is None else c.bound.value_ns)


def _note(candidate: Candidate, result: ChildResult) -> str:
    """How a solving process ended, in words."""
    text = f"{candidate.problem.traversal}: {result.status}"
    if result.exit_code is not None:
        text += f" with exit code {result.exit_code}"
    if result.last_words is not None:
        text += f" ({result.last_words})"
    return f"{text}; {', '.join(result.methods)}" if result.methods else text


def _done(board: Board, options: SolveOptions) -> bool:
    gap = board.gap
    return board.infeasible or (gap is not None and gap <= options.relative_gap)


def _outcome(board: Board, options: SolveOptions, clock: Clock, notes: tuple[str, ...], memory: bool) -> Outcome:
    value, bound, gap = board.value_ns, board.bound_ns, board.gap
    if board.infeasible:
        return Outcome("infeasible", "proved", board, clock.seconds, notes)
    if value is not None and value == bound:
        return Outcome("optimal", "proved", board, clock.seconds, notes)
    status: Status = "unknown" if value is None else "feasible"
    reason: StopReason = "time_limit"
    if gap is not None and gap <= options.relative_gap:
        reason = "gap"
    elif clock.stopped:
        reason = "stopped"
    elif memory:
        reason = "memory_limit"
    return Outcome(status, reason, board, clock.seconds, notes)
