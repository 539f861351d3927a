"""The methods of one solving process, side by side as far as there are workers.

Where microbatches are alike and the makespan counts, the lattice works on one core. Beside it CP-SAT decides targets in
windows that the lattice has narrowed, in turn with randomised greedy and neighbourhoods. Elsewhere, and while no
schedule is known, the whole CP-SAT model takes the lattice's place.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING

from crosspipe.lattice.cache import is_warm
from crosspipe.lattice.warm import warm_up
from crosspipe.model.result import ModelLimits
from crosspipe.model.solve import improve
from crosspipe.search.crew import Crew
from crosspipe.search.diving import applies, work_on_lattice
from crosspipe.search.neighbourhoods import WindowMoves
from crosspipe.search.pace import Pace
from crosspipe.search.sampling import LARGE, sample_greedy
from crosspipe.search.targets import TargetSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.model.result import Status
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.shared import Shared

WARM_UP_S = 60.0
"""With less time than this, kernels that are not compiled yet are done without."""

LONGEST_TURN_S = 10.0
"""Most time for which windows move before targets have another turn."""

HEAD_START_S = 0.5
"""Most time for which CP-SAT waits for the lattice's first bound: what both prove, the lattice certifies."""

SAMPLING_S = 6.0
SAMPLING_SHARE = 0.25
"""Most time of randomised greedy, and the share of the time left that it may take."""

LARGE_SHARE = 0.6
"""The same share on large problems: windows are a small part of these, and a pass takes seconds."""

MOST_MODELLED = 10_000
"""Operations up to which the whole model is worth writing beside other methods."""

PASSED_PER_S = 10_000
"""Operations that greedy passes may place per second of counted work: a usual core takes 0.1 s for them."""

VISITS_PER_S = 5_000_000
"""Count states that the nodes of dives may visit per second of counted work, each node all of them: also 0.1 s."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Workers, seed, gap asked for; and, if `deterministic`, the seconds by which work is counted out, not timed."""

    workers: int
    seed: int
    relative_gap: float
    deterministic: bool
    counted_s: float


def run_engine(shared: Shared, effort: Effort) -> Status:
    """Work on a problem until it is settled or time is up; what is found is told through `shared`."""
    crew = Crew(shared)
    rest = replace(effort, workers=max(1, effort.workers - 1))
    if effort.deterministic:
        crew.start(lambda: _counted(shared, effort))
    elif effort.workers == 1:
        crew.start(lambda: _in_turn(shared, effort))
    elif _lattice_applies(shared):
        bounded = Event()
        crew.start(lambda: _lattice_or_whole_model(shared, effort, bounded.set))
        crew.start(lambda: _after(bounded, shared, rest))
    else:
        crew.start(lambda: _whole_model(shared, rest))
        crew.start(lambda: _decide_sample_and_move(shared, replace(effort, workers=1)))
    crew.wait()
    return shared.verdict()


def _lattice_applies(shared: Shared) -> bool:
    """Whether count states can be worked with; where only their kernels are missing, that is told."""
    if not applies(shared):
        return False
    ready = is_warm() or shared.left_s >= WARM_UP_S
    if not ready:
        shared.begin("no count states, as their kernels are not compiled (python -m crosspipe.lattice.warm)")
    return ready


def _lattice(shared: Shared, effort: Effort, pace: Pace, on_bounded: Callable[[], None] = lambda: None) -> None:
    try:
        warm_up()
        work_on_lattice(shared, effort.seed, pace, on_bounded)
    finally:
        on_bounded()


def _lattice_or_whole_model(shared: Shared, effort: Effort, on_bounded: Callable[[], None]) -> None:
    """Work on the lattice; where it would be too large, the whole model has this core."""
    _lattice(shared, effort, Pace(), on_bounded)
    if shared.lattice is None and not shared.ended() and len(shared.problem.operations) <= MOST_MODELLED:
        _whole_model(shared, replace(effort, workers=1))


def _after(bounded: Event, shared: Shared, effort: Effort) -> None:
    bounded.wait(min(HEAD_START_S, shared.left_s))
    _decide_sample_and_move(shared, effort)


def _decide_sample_and_move(shared: Shared, effort: Effort) -> None:
    """Decide targets while that gets on; else greedy for a while, then targets and window moves in turn."""
    if shared.schedule is None:
        _whole_model(shared, effort)
    targets = TargetSearch(shared, effort.seed, effort.workers)
    moves = WindowMoves(shared, effort.seed)
    while targets.applies and not shared.ended() and targets.step():
        pass
    large = len(shared.problem.operations) > LARGE
    most_s = LARGE_SHARE * shared.left_s if large else min(SAMPLING_S, SAMPLING_SHARE * shared.left_s)
    sample_greedy(shared, effort.seed, most_s)
    # Extra operations make targets wide, so that windows have the first turn then.
    turn_of_targets = not shared.problem.extras
    while (targets.applies or moves.applies) and not shared.ended():
        began = time.monotonic() if turn_of_targets else time.monotonic() - targets.granted_s
        while turn_of_targets and targets.applies and not shared.ended() and targets.step():
            pass
        turn_of_targets = True
        until = time.monotonic() + min(time.monotonic() - began, LONGEST_TURN_S)
        while moves.applies and not shared.ended():
            moves.step()
            if targets.applies and time.monotonic() >= until:
                break


def _in_turn(shared: Shared, effort: Effort) -> None:
    """One method after the other on one core."""
    if not _lattice_applies(shared):
        sample_greedy(shared, effort.seed, SAMPLING_SHARE / 2 * shared.left_s)
        _whole_model(shared, effort)
    else:
        _lattice(shared, effort, Pace(most_s=shared.left_s / 3))
        _decide_sample_and_move(shared, effort)


def _counted(shared: Shared, effort: Effort) -> None:
    """One method after the other, work counted, so that every run is the same however fast the machine is."""
    seconds, operations = effort.counted_s, len(shared.problem.operations)
    sample_greedy(shared, effort.seed, seconds, most_passes=1 + int(seconds * PASSED_PER_S / operations))
    if applies(shared):
        _lattice(shared, effort, Pace(most_visits=int(seconds * VISITS_PER_S)))
    targets = TargetSearch(shared, effort.seed, effort.workers, deterministic=True)
    if not applies(shared) or not targets.applies:
        seconds /= 2 if targets.applies else 1
        _whole_model(shared, replace(effort, counted_s=seconds))
    while targets.applies and not shared.ended() and targets.spent_s < seconds:
        targets.step(seconds - targets.spent_s)


def _whole_model(shared: Shared, effort: Effort) -> None:
    shared.begin("whole model")

    def on_solution(orders: Orders) -> None:
        shared.offer(orders, "cp-sat")

    result = improve(
        shared.problem,
        shared.objective,
        shared.schedule,
        shared.bound_ns,
        ModelLimits(
            time_s=effort.counted_s if effort.deterministic else shared.left_s,
            workers=effort.workers,
            seed=effort.seed,
            relative_gap=effort.relative_gap,
            deterministic=effort.deterministic,
        ),
        on_solution=on_solution,
        on_bound=lambda bound_ns: shared.raise_bound(bound_ns, "cp-sat"),
        should_stop=shared.ended,
    )
    if result.orders is not None:
        shared.offer(result.orders, "cp-sat")
    if result.bound_ns is not None:
        shared.raise_bound(result.bound_ns, "cp-sat")
    if result.status == "infeasible":
        shared.infeasible = True
