"""What else is made small once the first objective is settled or its time is over, at no loss of it.

First the share of memory on the fullest device (`peak_share.py`): room against fragmentation. Then, within the same
memory, the time for which activations are held: by neighbouring orders (`sooner.py`), and in these by the best times
(`crosspipe.schedule.shift`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crosspipe.schedule.in_flight import in_flight_ns, least_in_flight_ns
from crosspipe.schedule.measure import value_ns
from crosspipe.schedule.replay import resolved
from crosspipe.schedule.shift import hold_shorter
from crosspipe.search.allowance import Allowance, allowed_s
from crosspipe.search.memory_share import fullest
from crosspipe.search.peak_share import PeakShare
from crosspipe.search.sooner import give_back_sooner

if TYPE_CHECKING:
    from fractions import Fraction

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule
    from crosspipe.search.incumbents import Board, Candidate
    from crosspipe.search.memory_share import Fullest
    from crosspipe.search.options import SolveOptions

LARGE = 20_000
"""Above this many operations second terms are measured, not improved: each step takes too long."""

CHEAP = 2_000
"""Up to this many operations delays are found whatever the time: that takes about as long as a few replays."""

SHARE_RESERVED = 0.05
MOST_RESERVED_S = 1.0
"""Time kept for them of a search that is not settled: a share of the limit, up to a limit."""

SHARE_OF_MEMORY = 0.9
"""Part of the time that goes to the share of memory; what it leaves, and the rest, to the time in flight."""

STEPS = 3
"""Constructing a schedule takes at least so many times as long as a first step: without time for that, none begins."""

ARCS_PER_S = 5_000_000
"""Constraints between times that are looked at in a second."""

NO_TIME = "not tried: no time was left"
TOO_LARGE = f"not tried: more than {LARGE} operations"
STOPPED = "not tried: stopped"


@dataclass(frozen=True, slots=True)
class SecondTerms:
    """What second terms came to; they hold for the placement of the best schedule.

    Attributes
    ----------
    full
        The fullest device, None where no memory is limited.
    share_lower
        No schedule of this value has a smaller share of memory on its fullest device; None if not looked for.
    in_flight_ns
        Time that microbatches are in flight, over all stages.
    in_flight_lower_ns
        No schedule at all has less; None if not looked for.
    least_in_orders
        Whether no other times of the same orders and value have less.
    before
        The schedule of this value before them.
    before_from
        Who made that.
    notes
        What was not tried, and why.
    """

    full: Fullest | None
    share_lower: Fraction | None
    in_flight_ns: int
    in_flight_lower_ns: int | None
    least_in_orders: bool
    before: Schedule = field(compare=False)
    before_from: str | None
    notes: tuple[str, ...] = ()

    @property
    def share_proved(self) -> bool:
        """Whether no schedule of this value fills less of the memory of its fullest device."""
        return self.full is not None and self.share_lower is not None and self.full.share <= self.share_lower

    @property
    def in_flight_proved(self) -> bool:
        """Whether no schedule at all holds activations for less."""
        return self.in_flight_ns == self.in_flight_lower_ns


def reserved_s(operations: int, options: SolveOptions) -> float:
    """Seconds that a search should leave for second terms."""
    return 0.0 if operations > LARGE else min(SHARE_RESERVED * options.time_limit_s, MOST_RESERVED_S)


def second_terms(board: Board, options: SolveOptions, *, searched: bool) -> SecondTerms | None:
    """Improve the best schedule in its second terms; None where there is none.

    Parameters
    ----------
    board
        Its best candidate gets the schedule found: of the same value, or of a smaller one should that turn up.
    options
        Where work is counted, it is counted here, too.
    searched
        Whether a solving process has run: then it has compiled its kernels.
    """
    best = board.best
    if best is None or best.schedule is None:
        return None
    operations = len(best.problem.operations)
    why_not = TOO_LARGE if operations > LARGE else STOPPED if board.clock.asked_to_stop() else None
    if why_not is not None:
        return measured(best.problem, best.schedule, best.source, why_not)
    before, before_from, before_ns = best.schedule, best.source, best.value_ns
    most_s = allowed_s(board.clock, options, searched=searched)
    notes, lower = tuple[str, ...](), None
    rest_s = (1 - SHARE_OF_MEMORY) * most_s
    if fullest(best.problem, best.schedule) is not None:
        if most_s == 0.0 or (best.construction_s > STEPS * most_s and not options.deterministic):
            notes = (f"share of memory {NO_TIME}",)
        else:
            allowance = _allowance(board, options, SHARE_OF_MEMORY * most_s)
            lower = _fill_less(board, best, options, allowance, searched=searched)
            if best.value_ns != before_ns:
                # The answer now shows a smaller value: what it falls back on must have it, too.
                before, before_from, before_ns = best.schedule, best.source, best.value_ns
            rest_s += allowance.left_s
    found = _hold_shorter(board, best, best.schedule, options, _allowance(board, options, rest_s))
    if best.value_ns != before_ns:
        before, before_from = best.schedule, best.source  # the one of the value that the board now shows
    return replace(found, share_lower=lower, notes=notes, before=before, before_from=before_from)


def _fill_less(
    board: Board, best: Candidate, options: SolveOptions, allowance: Allowance, *, searched: bool
) -> Fraction | None:
    """Give the candidate a schedule that fills less of the fullest device, if one is found; the proven least share."""
    if best.schedule is None:
        return None
    known = [(row.orders, row.name) for row in best.families if row.orders is not None]
    # Kernels that only some runs have would make counted work differ.
    kernels = searched or not options.deterministic
    search = PeakShare(
        best.problem, options.objective, (best.schedule, best.source or ""), allowance, options.seed, kernels=kernels
    )
    search.run(known)
    _keep(board, best, options, search.schedule, search.source)
    return search.lower


def _keep(board: Board, best: Candidate, options: SolveOptions, schedule: Schedule, source: str) -> None:
    """Give the candidate a schedule of the same value, or offer one of a smaller value."""
    value = value_ns(resolved(best.problem, schedule.orders), schedule, options.objective)
    if best.value_ns is not None and value < best.value_ns:
        board.offer(best, schedule, value, source)
    else:
        best.schedule, best.source = schedule, source


def _hold_shorter(
    board: Board, best: Candidate, schedule: Schedule, options: SolveOptions, allowance: Allowance
) -> SecondTerms:
    """Give the candidate neighbouring orders, and times, in which activations are held for less."""
    problem = resolved(best.problem, schedule.orders)
    if not allowance.over():
        schedule = give_back_sooner(problem, schedule, options.objective, allowance)

    def go_on(arcs: int) -> bool:
        allowance.spend(arcs / ARCS_PER_S)
        return not allowance.over()

    cheap = len(problem.operations) <= CHEAP
    shifted = hold_shorter(problem, schedule, options.objective, None if cheap else go_on)
    _keep(board, best, options, shifted.schedule, best.source or "")
    return replace(
        measured(problem, shifted.schedule, best.source),
        in_flight_lower_ns=None if best.problem.choices else least_in_flight_ns(problem),
        least_in_orders=shifted.least,
    )


def measured(problem: Problem, schedule: Schedule, source: str | None, *notes: str) -> SecondTerms:
    """State what a schedule comes to as it is."""
    problem = resolved(problem, schedule.orders)
    return SecondTerms(
        full=fullest(problem, schedule),
        share_lower=None,
        in_flight_ns=in_flight_ns(problem, schedule),
        in_flight_lower_ns=None,
        least_in_orders=False,
        before=schedule,
        before_from=source,
        notes=notes,
    )


def _allowance(board: Board, options: SolveOptions, most_s: float) -> Allowance:
    return Allowance(board.clock, most_s, counted=options.deterministic, on_tick=board.beat)
