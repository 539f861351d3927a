"""What the methods of one solving process share, while they run side by side."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.building import problem

from crosspipe.bounds.best import lower_bound
from crosspipe.families.gpipe import gpipe
from crosspipe.families.registry import Family, run_families
from crosspipe.problem.problem import Objective
from crosspipe.schedule.measure import makespan_ns
from crosspipe.schedule.replay import replay
from crosspipe.search.crew import Crew
from crosspipe.search.shared import Shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.schedule.orders import Orders

TELLING_S = 0.3
"""Longer than the crew's tick: it sees the end while the news is still being told."""


def shared_with(
    heard: list[str], bound_ns: int, incumbent: Orders | None = None, *, gap: float = 0.0, telling_s: float = TELLING_S
) -> Shared:
    """A search whose news are heard slowly, as a pipe takes long orders."""

    def hear(source: str) -> None:
        time.sleep(telling_s)
        heard.append(source)

    return Shared(
        problem(2, 3),
        Objective.MAKESPAN,
        incumbent,
        bound_ns,
        (60.0, gap),
        on_orders=lambda _, source: hear(source),
        on_bound=lambda _, source, __: hear(source),
        should_stop=lambda: False,
    )


def best_orders() -> tuple[Orders, int]:
    """Orders that meet the bound, and the bound."""
    compiled = problem(2, 3)
    bound = lower_bound(compiled, Objective.MAKESPAN).value_ns
    results = run_families(compiled, Objective.MAKESPAN)
    return next((row.orders, bound) for row in results if row.orders is not None and row.value_ns == bound)


def last_word(shared: Shared, method: Callable[[], object]) -> str:
    crew = Crew(shared)
    crew.start(lambda: void(method()))
    crew.wait()
    return shared.verdict()


def void(_: object) -> None:
    """Drop a result."""


def test_the_last_word_comes_after_the_orders_it_stands_on() -> None:
    orders, bound_ns = best_orders()
    heard: list[str] = []
    shared = shared_with(heard, bound_ns)
    assert last_word(shared, lambda: shared.offer(orders, "dive")) == "optimal"
    assert heard == ["dive"]


def test_the_last_word_comes_after_the_bound_it_stands_on() -> None:
    orders, bound_ns = best_orders()
    heard: list[str] = []
    shared = shared_with(heard, 0, orders)
    assert last_word(shared, lambda: shared.raise_bound(bound_ns, "count states")) == "optimal"
    assert heard == ["count states"]


def test_nothing_is_taken_once_the_gap_is_closed() -> None:
    orders, bound_ns = best_orders()
    compiled = problem(2, 3)
    worse = Family("GPipe", gpipe).build(compiled)
    value = makespan_ns(replay(compiled, worse))
    heard: list[str] = []
    shared = shared_with(heard, bound_ns - 1, worse, gap=(value - bound_ns + 1) / value, telling_s=0)
    assert value > bound_ns
    assert shared.ended()
    assert not shared.offer(orders, "dive")
    shared.raise_bound(bound_ns, "count states")
    assert (shared.value_ns, shared.bound_ns, heard) == (value, bound_ns - 1, [])
