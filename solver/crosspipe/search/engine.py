"""The methods of one solving process: the lattice on one core, greedy sampling, windows and the whole model on another.

Which methods run depends on the problem: the lattice where microbatches are alike and the makespan counts; then, beside
it, the whole CP-SAT model on small problems and randomised greedy followed by neighbourhoods on larger ones. Elsewhere
the whole model has all workers.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crosspipe.lattice.warm import is_warm, warm_up
from crosspipe.model.result import ModelLimits
from crosspipe.model.solve import improve
from crosspipe.search.diving import Pace, lattice_tables, work_on_lattice
from crosspipe.search.neighbourhoods import improve_by_windows
from crosspipe.search.sampling import sample_greedy

if TYPE_CHECKING:
    from crosspipe.lattice.fixpoint import Tables
    from crosspipe.model.result import Status
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.shared import Shared

SMALL = 400
"""Up to this many operations the whole model is worth its while beside the lattice."""

WARM_UP_S = 60.0
"""With less time than this, kernels that are not compiled yet are done without."""

SAMPLING_S = 6.0
SAMPLING_SHARE = 0.25
"""Most time of randomised greedy, and the share of the time left that it may take."""

NODES_PER_S = 100
PASSES_PER_S = 10
"""Work allowed per second of the time limit where it is counted instead of timed."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Workers, seed, gap asked for, and whether work is counted instead of timed."""

    workers: int
    seed: int
    relative_gap: float
    deterministic: bool


def run_engine(shared: Shared, effort: Effort) -> Status:
    """Work on a problem until it is settled or time is up; what is found is told through `shared`."""
    tables = _tables(shared)
    if tables is None:
        return _whole_model(shared, effort)
    if effort.workers == 1 or effort.deterministic:
        _in_turn(shared, effort, tables)
    else:
        lattice = threading.Thread(target=work_on_lattice, args=(shared, tables, effort.seed), daemon=True)
        lattice.start()
        _beside(shared, replace(effort, workers=effort.workers - 1))
        while lattice.is_alive() and not shared.ended():
            lattice.join(timeout=0.05)
    return _status(shared)


def _tables(shared: Shared) -> Tables | None:
    if not is_warm():
        if shared.left_s < WARM_UP_S:
            return None
        warm_up()
    return lattice_tables(shared)


def _beside(shared: Shared, effort: Effort) -> None:
    """Run the methods that go beside the lattice."""
    if len(shared.problem.operations) <= SMALL:
        _whole_model(shared, effort)
    sample_greedy(shared, effort.seed, min(SAMPLING_S, SAMPLING_SHARE * shared.left_s))
    improve_by_windows(shared, effort.seed)


def _in_turn(shared: Shared, effort: Effort, tables: Tables) -> None:
    """One method after the other on one core; counted work first where a run must repeat exactly."""
    if effort.deterministic:
        seconds = shared.left_s
        sample_greedy(shared, effort.seed, seconds, most_passes=int(seconds * PASSES_PER_S))
        work_on_lattice(shared, tables, effort.seed, Pace(most_nodes=int(seconds * NODES_PER_S)))
        if len(shared.problem.operations) <= SMALL:
            _whole_model(shared, effort)
        return
    sample_greedy(shared, effort.seed, SAMPLING_SHARE / 2 * shared.left_s)
    work_on_lattice(shared, tables, effort.seed, Pace(most_s=shared.left_s / 2))
    _beside(shared, effort)


def _whole_model(shared: Shared, effort: Effort) -> Status:
    def on_solution(orders: Orders) -> None:
        shared.offer(orders, "cp-sat")

    result = improve(
        shared.problem,
        shared.objective,
        shared.schedule,
        shared.bound_ns,
        ModelLimits(
            time_s=shared.left_s,
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
    return "infeasible" if result.status == "infeasible" else _status(shared)


def _status(shared: Shared) -> Status:
    if shared.value_ns is None:
        return "unknown"
    return "optimal" if shared.bound_ns >= shared.value_ns else "feasible"
