"""What goes into and comes out of one improvement by CP-SAT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.schedule.orders import Orders

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """How long and how the solver may search.

    Attributes
    ----------
    time_s
        Wall-clock seconds for building and solving together, by the monotonic clock.
    workers
        Solver threads.
    seed
        Random seed of the search.
    relative_gap
        The search stops once `(value - bound) / value` is at most this.
    deterministic
        If true, the same answer for the same OR-Tools version, worker count, seed and time limit: the search stops
        after a fixed amount of work (see `crosspipe.model.search`). The clock still ends it where the machine is too
        slow to do that work within `time_s`; only then may two runs differ.
    """

    time_s: float
    workers: int = 1
    seed: int = 0
    relative_gap: float = 0.0
    deterministic: bool = False


@dataclass(frozen=True, slots=True)
class ModelResult:
    """Outcome of one improvement.

    Attributes
    ----------
    status
        `optimal`: the replayed value of `orders` equals `bound_ns`. `feasible`: `orders` are the best known.
        `infeasible`: no schedule exists, confirmed by a second solve. `unknown`: nothing found, nothing refuted.
    orders
        Best orders found (the incumbent's if none is better), None if there are none.
    bound_ns
        Proven lower bound on the objective in nanoseconds, None for an infeasible problem.
    """

    status: Status
    orders: Orders | None
    bound_ns: int | None


@dataclass(frozen=True, slots=True)
class Listeners:
    """What the caller of an improvement hears and says.

    Attributes
    ----------
    on_solution
        Takes the orders of each better solution.
    on_bound
        Takes each better bound, nanoseconds.
    should_stop
        Says whether to end the search.
    """

    on_solution: Callable[[Orders], None]
    on_bound: Callable[[int], None]
    should_stop: Callable[[], bool]
