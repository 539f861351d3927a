"""Solves whose solving process is this process: all of search and answer runs, without the start-up of a child."""

from __future__ import annotations

import json
import threading
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ParamSpec

import crosspipe.search.improve as improving
from crosspipe.answer.restore import restore
from crosspipe.answer.solve import check, solve
from crosspipe.answer.units import to_ms
from crosspipe.problem.wire import problem_from_json, problem_to_json
from crosspipe.search.engine import Effort, run_engine
from crosspipe.search.runner import ChildResult
from crosspipe.search.shared import Shared
from crosspipe.search.wire import orders_from_json, orders_to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from crosspipe.answer.models import Answer
    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders
    from crosspipe.search.clock import Clock
    from crosspipe.search.runner import ChildLimits


P = ParamSpec("P")


class HereRunner:
    """Stands for `Runner`: what passes between the processes is written and read as for a real one."""

    def __init__(
        self,
        problem: Problem,
        objective: Objective,
        incumbent: Orders | None,
        lower_bound_ns: int,
        limits: ChildLimits,
    ) -> None:
        self._problem = problem_from_json(json.loads(json.dumps(problem_to_json(problem))))
        self._objective, self._lower_bound_ns, self._limits = objective, lower_bound_ns, limits
        self._incumbent = None if incumbent is None else orders_from_json(orders_to_json(incumbent))

    def run(
        self,
        clock: Clock,
        until_s: float,
        on_orders: Callable[[Orders, str], bool],
        on_bound: Callable[[int, str], None],
        on_tick: Callable[[], None],
        enough: Callable[[], bool],
    ) -> ChildResult:
        limits, hearing = self._limits, Hearing()
        shared = Shared(
            self._problem,
            self._objective,
            self._incumbent,
            self._lower_bound_ns,
            (limits.time_s, limits.relative_gap),
            on_orders=hearing.while_open(lambda orders, source: _heard(on_orders(orders, source))),
            on_bound=hearing.while_open(on_bound),
            should_stop=lambda: clock.asked_to_stop() or clock.seconds >= until_s or enough(),
        )
        status = run_engine(shared, Effort(**{field.name: getattr(limits, field.name) for field in fields(Effort)}))
        hearing.close()
        on_tick()
        return ChildResult(status)


class Hearing:
    """Hears what methods tell until it is closed: they end with their process, which here goes on."""

    def __init__(self) -> None:
        self._lock, self._open = threading.Lock(), True

    def while_open(self, hear: Callable[P, None]) -> Callable[P, None]:
        def heard(*told: P.args, **named: P.kwargs) -> None:
            with self._lock:
                if self._open:
                    hear(*told, **named)

        return heard

    def close(self) -> None:
        with self._lock:
            self._open = False


def _heard(accepted: bool) -> None:
    assert accepted, "what the engine offers is a schedule"


def solve_here(monkeypatch: pytest.MonkeyPatch, spec: Any, **options: Any) -> Answer:
    """Solve with two workers within this process."""
    monkeypatch.setattr(improving, "Runner", HereRunner)
    return solve(spec, **({"workers": 2} | options))


def assert_sound(spec: Any, answer: Answer) -> None:
    """Everything that must hold of any answer: the checker's verdict, and that the parts of it agree."""
    document = json.loads(answer.model_dump_json())
    objective = answer.objective
    if answer.status in ("infeasible", "unknown"):
        assert objective.value_ms is answer.makespan_ms is answer.span_ms is answer.bubble_ratio is None
        assert objective.gap is None
        assert answer.devices == answer.transfers == answer.extra_operations == []
        assert (answer.explanation is not None) == (answer.status == "infeasible")
        return
    result = check(spec, document)
    assert result.ok, result.violations[:3]
    assert (result.makespan_ms, result.span_ms) == (answer.makespan_ms, answer.span_ms)
    assert objective.value_ms == (answer.makespan_ms if objective.name == "makespan" else answer.span_ms)
    assert objective.value_ms is not None
    assert answer.explanation is None
    if objective.lower_bound_ms is not None:
        assert objective.lower_bound_ms <= objective.value_ms
    assert (answer.status == "optimal") == (objective.lower_bound_ms == objective.value_ms)
    for row in answer.families:
        assert row.fits == (row.reason is None)
        assert (row.value_ms is not None) == row.fits
        assert row.value_ms is None or row.value_ms >= objective.value_ms
    problem, schedule = restore(spec, document)
    ends = {
        (device.device, device.replica): max(device.operations.end_ms, default=0.0)
        for device in answer.devices
        if device.operations is not None
    }
    for number, device in enumerate(problem.devices):
        rows = schedule.orders.sequences[number]
        kinds = problem.operations.kind[rows] <= 3
        assert ends[device.name, device.replica] == to_ms(int(schedule.end_ns[rows[kinds]].max(initial=0)))
