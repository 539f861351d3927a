"""`sweep`: solves a spec at every point of a grid, best points first, each starting from its neighbours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from crosspipe.answer.restore import SpecSource, parsed_spec
from crosspipe.answer.solve import one_of
from crosspipe.costs.regions import with_regions
from crosspipe.problem.problem import Objective
from crosspipe.search.options import SolveOptions, usable_cores
from crosspipe.spec.digest import spec_digest
from crosspipe.sweeps.axes import plain
from crosspipe.sweeps.grid import grid_of
from crosspipe.sweeps.models import Sweep, SweepAxis
from crosspipe.sweeps.readings import TOLERANCE, readings_of, require_tolerance
from crosspipe.sweeps.settle import settle
from crosspipe.sweeps.solving import Solving
from crosspipe.sweeps.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from crosspipe.sweeps.progress import SweepProgress


def sweep(
    spec: SpecSource,
    axes: Mapping[str, Sequence[object]],
    *,
    time_limit_s: float = 5.0,
    objective: str = "makespan",
    relative_gap: float = 0.0,
    seed: int = 0,
    workers: int | None = None,
    deterministic: bool = False,
    tolerance: float = TOLERANCE,
    out: Path | str | None = None,
    on_progress: Callable[[SweepProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Sweep:
    """Solve a spec at every combination of some values.

    Parameters
    ----------
    spec
        The cluster spec.
    axes
        Values by what varies: `memory_gb` (of every device), `memory` (a factor of each device's own), `latency_ms` and
        `bandwidth_gbps` (of every link between two sites), `latency` and `bandwidth` (factors of each link's own),
        `microbatches`, `in_flight`, `traversal`. With a place (`memory_gb:east`, `latency_ms:east-west`) only that site
        or link varies.
    time_limit_s
        Seconds for each point.
    objective, relative_gap, seed, workers, deterministic
        As for `solve`.
    tolerance
        Share by which a value may be longer and still count as no loss in the readings.
    out
        File that keeps each point as it is solved; run again, only missing points are solved: those that are not there,
        or neither proved nor solved for as long as `time_limit_s`.
    on_progress
        Called at the beginning and end of each point, and at each news of its search.
    should_stop
        Asked often; once true, the sweep ends with the points that are done.

    Raises
    ------
    SpecError
        If the spec is malformed, or invalid at a point: nothing is solved then.
    OptionError
        If an axis, a value or an option is wrong.
    SweepFileError
        If `out` holds something else.
    """
    chosen = Objective(one_of("objective", objective, [known.value for known in Objective]))
    cores = usable_cores() if workers is None else workers
    options = SolveOptions(chosen, time_limit_s, relative_gap, seed, cores, deterministic)
    require_tolerance(tolerance)
    parsed = with_regions(parsed_spec(spec))
    grid = grid_of(parsed, axes)
    store = Store(None if out is None else Path(out), objective)
    run = Solving(grid, options, store, on_progress, should_stop)
    complete = run.to_the_end()
    settle(grid, run.points, objective)
    name: Literal["makespan", "span"] = "makespan" if chosen is Objective.MAKESPAN else "span"
    return Sweep(
        name=parsed.name,
        digest=spec_digest(parsed),
        objective=name,
        complete=complete,
        axes=[SweepAxis(name=axis.name, values=[plain(value) for value in axis.values]) for axis in grid.axes],
        points=[run.points[place] for place in sorted(run.points)],
        readings=readings_of(grid, run.points, parsed, tolerance),
    )
