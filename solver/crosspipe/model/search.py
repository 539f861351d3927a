"""One run of CP-SAT that ends when it should.

Stopping never relies on solution callbacks: a watching thread asks the solver to stop once the deadline has passed or
the caller says so. (Only a callback that has just been called could stop a search, and a search may find nothing.)

Deterministic runs. `interleave_search` makes the parallel search independent of thread timing: it works in batches and
shares what was found between batches only. The run ends after a given `max_deterministic_time`, a count of work done in
the solver that is the same on every machine (see `deterministic_work`); the clock ends it only if that comes first.

No linear relaxation. Measured on 2 cores: CP-SAT builds one per "no overlap" by an all-pairs longest path that looks at
no limit (16 devices, 64 microbatches: half a minute past a limit of 20 s), and the bounds it gives were never better
than those a search starts from. So only subsolvers without it run; one worker alone does best with the defaults.
Probing is left out of the presolve of all but small models: it costs seconds there (8 devices, 24 microbatches: optimum
proved in 5 s without, not in 30 s with both).
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from crosspipe.errors import InvalidModelError
from crosspipe.model.listener import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ortools.sat.python.cp_model_helper import SatParameters

    from crosspipe.model.result import ModelLimits
    from crosspipe.problem.operations import IntArray

WATCH_INTERVAL_S = 0.02

MOST_PROBED = 300
"""Most operations for which the presolve probes."""

SUBSOLVERS = (
    "quick_restart_no_lp",
    "no_lp",
    "objective_lb_search_no_lp",
    "probing_no_lp",
    "objective_shaving_no_lp",
)
"""Complete searches, as many of the first as there are workers for; large-neighbourhood searches take the rest."""

LINEAR_SUBSOLVERS = ("fs_random", "fs_random_quick_restart", "ls_lin", "rins/rens")
"""Others that would build the linear relaxation."""


def deterministic_work(time_s: float, operations: int) -> float:
    """Work that a run may do within `time_s` on a usual core, in the solver's deterministic units.

    Measured: 0.33 units per second of one core at 600 operations, 0.2 at 3,000, 0.1 at 6,000; half of that is taken, so
    that the clock does not strike first.
    """
    return 0.3 * time_s / (1 + operations / 1000)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a run ended with.

    Attributes
    ----------
    refuted
        True if the solver says that the model has no solution.
    starts
        Best start times in ticks, None if nothing was found.
    bound
        Proven lower bound of the objective in ticks, None if the model was refuted.
    proved
        True if the starts are an optimum of the model.
    work
        Deterministic work done.
    """

    refuted: bool
    starts: IntArray | None
    bound: int | None
    proved: bool
    work: float


def search(
    model: cp_model.CpModel,
    starts: Sequence[cp_model.IntVar],
    limits: ModelLimits,
    deadline: float,
    work: float,
    *,
    presolve: bool = True,
    once: bool = False,
    probe: bool | None = None,
    on_starts: Callable[[IntArray], None] = lambda _: None,
    on_bound: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    on_log: Callable[[str], None] | None = None,
) -> Found:
    """Solve a model until its optimum is proved, the deadline has passed, or the caller says stop.

    Parameters
    ----------
    model, starts
        The model and its start variables.
    limits
        Workers, seed, gap, determinism (`time_s` is not looked at).
    deadline
        On the clock of `time.monotonic`.
    work
        Most deterministic work of a deterministic run.
    presolve
        Whether the model is simplified first.
    once
        Whether that is done in one round instead of until nothing moves.
    probe
        Whether that includes probing; None: on small models only.
    on_starts, on_bound
        Called with better solutions, the last one always among them, and with better bounds, in a thread of the search;
        their first error ends it.
    should_stop
        Asked every few hundredths of a second, in a thread of its own.
    on_log
        Takes the lines of the solver's log, if given.

    Raises
    ------
    InvalidModelError
        If the solver refuses the model: a fault of CrossPipe, not of its input.
    """
    solver = cp_model.CpSolver()
    probed = len(starts) <= MOST_PROBED if probe is None else probe
    _set_parameters(solver.parameters, limits, deadline, work, presolve=presolve, once=once, probe=probed)
    listener = Listener(starts, on_starts, at_once=limits.deterministic)
    solver.best_bound_callback = lambda bound: listener.guarded(lambda: on_bound(_whole(bound)))
    if on_log is not None:
        solver.log_callback = on_log
        solver.parameters.log_search_progress = True
        solver.parameters.log_to_stdout = False
    done = threading.Event()

    def watch() -> None:
        while not done.wait(WATCH_INTERVAL_S):
            if time.monotonic() >= deadline or listener.error is not None or listener.asked(should_stop):
                solver.stop_search()
            listener.hand_on()

    watcher = threading.Thread(target=watch, name="crosspipe-watch", daemon=True)
    watcher.start()
    try:
        status = solver.solve(model, listener)
    finally:
        done.set()
        watcher.join()
    listener.hand_on()
    if listener.error is not None:
        raise listener.error
    if status == cp_model.MODEL_INVALID:
        raise InvalidModelError(f"CP-SAT refuses the model: {model.validate()}")
    spent = solver.deterministic_time
    if status == cp_model.INFEASIBLE:
        return Found(refuted=True, starts=None, bound=None, proved=False, work=spent)
    bound = _whole(solver.best_objective_bound)
    if status == cp_model.UNKNOWN:
        return Found(refuted=False, starts=None, bound=bound, proved=False, work=spent)
    best = np.array([solver.value(variable) for variable in starts], dtype=np.int64)
    proved = bound >= _whole(solver.objective_value)
    return Found(refuted=False, starts=best, bound=bound, proved=proved, work=spent)


def _set_parameters(
    parameters: SatParameters,
    limits: ModelLimits,
    deadline: float,
    work: float,
    *,
    presolve: bool,
    once: bool,
    probe: bool,
) -> None:
    parameters.num_workers = limits.workers
    parameters.random_seed = limits.seed
    parameters.relative_gap_limit = limits.relative_gap
    parameters.cp_model_presolve = presolve
    if once:
        parameters.max_presolve_iterations = 1
    if not probe:
        parameters.cp_model_probing_level = 0
    parameters.linearization_level = 0
    if limits.workers > 1 or limits.deterministic:
        parameters.subsolvers.extend(SUBSOLVERS)
        parameters.ignore_subsolvers.extend(LINEAR_SUBSOLVERS)
    parameters.max_time_in_seconds = max(deadline - time.monotonic(), 0.001)
    if limits.deterministic:
        parameters.interleave_search = True
        parameters.max_deterministic_time = max(work, 0.0)


def _whole(bound: float) -> int:
    """Round a bound up to whole ticks, forgiving the last digits of floating point."""
    return math.ceil(bound - 1e-6)
