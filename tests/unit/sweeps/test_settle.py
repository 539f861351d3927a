"""What points lend each other, with neighbours whose searches have failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.sweeps.sweeping import grid, point, swept

from crosspipe.search.incumbents import SolverContradictionError
from crosspipe.sweeps.settle import settle

if TYPE_CHECKING:
    from crosspipe.sweeps.grid import Grid
    from crosspipe.sweeps.settle import Points

AXES: dict[str, list[Any]] = {"memory_gb": [0.2, 0.3, 0.4], "latency_ms": [0, 4]}
WORST, BEST = (0, 1), (2, 0)


def solved() -> tuple[Grid, Points]:
    the_grid = grid(AXES)
    return the_grid, dict(zip(sorted(the_grid.points), swept(AXES).points, strict=True))


def failed(the_grid: Grid, points: Points, place: tuple[int, ...]) -> None:
    """Make a point one whose search has found next to nothing."""
    points[place] = point(the_grid.at(place), 10_000.0, 0.0)


def test_a_schedule_goes_to_every_better_point() -> None:
    the_grid, points = solved()
    worst = points[WORST]
    assert worst.value_ms is not None
    for place in points:
        if place != WORST:
            failed(the_grid, points, place)
    settle(the_grid, points, "makespan")
    values = [points[place].value_ms for place in sorted(points)]
    assert all(value is not None and value <= worst.value_ms for value in values)
    assert points[BEST].answer is not None
    sources = {known.value_from for place, known in points.items() if place != WORST}
    assert all(source is not None and source != "by hand" for source in sources)


def test_a_lent_schedule_is_called_after_its_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing that is constructed at the better point is as good."""
    import crosspipe.answer.solve as solving

    search = solving.search
    the_grid, points = solved()
    failed(the_grid, points, (0, 0))

    def only_the_start(problems: Any, options: Any, progress: Any, stop: Any, clock: Any, *more: Any) -> Any:
        starts, _ = more
        outcome = search(problems, options, progress, stop, clock, starts)
        best = outcome.board.best
        assert best is not None
        best.schedule, best.value_ns, best.source = starts[0].schedule, starts[0].value_ns, starts[0].source
        return outcome

    monkeypatch.setattr(solving, "search", only_the_start)
    changed = settle(the_grid, points, "makespan")
    assert changed == [(0, 0)]
    assert points[0, 0].value_from == "neighbour 0.2 GB, 4 ms"


def test_a_bound_goes_to_every_worse_point() -> None:
    the_grid, points = solved()
    best = points[BEST]
    for place in points:
        if place != BEST:
            failed(the_grid, points, place)
    settle(the_grid, points, "makespan")
    assert {known.lower_bound_ms for known in points.values()} == {best.lower_bound_ms}
    assert points[WORST].bound_from is not None
    assert points[WORST].bound_from.startswith("neighbour ")
    assert points[WORST].bound_from.endswith(f": {best.bound_from}")
    assert points[WORST].bound_from.count("neighbour") == 1, "it names where the bound was proved, not the way"


def test_what_is_proved_impossible_is_so_at_every_worse_point() -> None:
    the_grid, points = solved()
    points[1, 0] = point(the_grid.at((1, 0)), None)
    for place in ((0, 0), (0, 1), (1, 1)):
        points[place] = point(the_grid.at(place), None, status="unknown", explanation=None)
    settle(the_grid, points, "makespan")
    assert [points[place].status for place in ((0, 0), (0, 1), (1, 1))] == ["infeasible"] * 3
    assert points[0, 1].explanation is not None
    assert points[0, 1].explanation.endswith(": no room")
    assert points[BEST].status != "infeasible"


def test_points_that_contradict_each_other_are_our_fault() -> None:
    the_grid, points = solved()
    points[BEST] = point(the_grid.at(BEST), None)
    with pytest.raises(SolverContradictionError, match="is said to have none"):
        settle(the_grid, points, "makespan")
    the_grid, points = solved()
    points[BEST] = points[BEST].model_copy(update={"lower_bound_ms": 10_000.0})
    with pytest.raises(SolverContradictionError, match="lies above a known schedule"):
        settle(the_grid, points, "makespan")


def test_nothing_changes_where_nothing_is_to_lend() -> None:
    the_grid, points = solved()
    assert settle(the_grid, points, "makespan") == []
