"""Extra operations and deadlines in the lattice, worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, problem
from tests.unit.lattice.standing import least_standing

from crosspipe.lattice import extras
from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.leaf import orders_of
from crosspipe.lattice.machines import lattice_of
from crosspipe.problem.operations import Kind
from crosspipe.schedule.measure import fits, makespan_ns
from crosspipe.schedule.replay import replay

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

MOST = 100_000
MS = 10**6


def two_devices(*named: dict[str, Any], microbatches: int = 3, **more: Any) -> Problem:
    """Two stages of F 1, B 1, W 1 ms on two devices; messages of 1 ms without latency."""
    link = {"between": ["a", "b"], "bandwidth_gbps": 8, "group": "wan"}
    sites = {"a": {"devices": 1}, "b": {"devices": 1}}
    listed = [{"name": str(number)} | extra for number, extra in enumerate(named)]
    stages = [STAGE | {"boundary_mb": 1}] * 2
    return problem(stages, microbatches, sites=sites, links=[link], extra_operations=listed, **more)


def bound_ms(compiled: Problem) -> int:
    lattice = lattice_of(compiled, MOST)
    assert lattice is not None
    return least_standing(Tables(lattice), 0, 1000) * lattice.tick_ns // MS


REDUCE = {"size_mb": 4, "lane": "wan/out"}


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ([], 11),  # device 0 waits for the first gradient from 1 to 5, or for the last until 9
        ([REDUCE | {"after": [0]}], 15),
        ([REDUCE | {"after": [1]}], 15),  # device 1 is busy from 2 to 11
        ([REDUCE | {"after": [1]}, REDUCE | {"after": [0]}], 19),
        ([{"duration_ms": 5, "before": [0]}], 16),
        ([{"duration_ms": 5, "before": [1]}], 14),
        ([{"duration_ms": 5, "device": "a/0", "before": [0]}, {"duration_ms": 3, "device": "a/0", "after": [0]}], 19),
    ],
)
def test_the_bound_counts_what_comes_before_and_after(named: list[dict[str, Any]], wanted: int) -> None:
    compiled = two_devices(*named)
    tables = Tables(lattice) if (lattice := lattice_of(compiled, MOST)) is not None else None
    assert tables is not None
    low = bound_ms(compiled)
    found = Diver(tables).dive(low * MS // tables.lattice.tick_ns, Rule(1, 0), 0, 10**6, 10_000)
    assert found.windows is not None
    schedule = replay(compiled, orders_of(compiled, tables, found.windows))
    assert fits(compiled, schedule)
    assert makespan_ns(schedule) == low * MS
    assert low == wanted


def test_a_deadline_of_a_stage_moves_what_must_end_by_it() -> None:
    free = two_devices()
    lattice = lattice_of(two_devices(limits={"stage_deadlines_ms": {"1": 12}}), MOST)
    assert bound_ms(free) == 11
    assert lattice is not None
    windows = Tables(lattice).stands(20 * MS // lattice.tick_ns)
    assert windows is not None
    place = next(
        c for c, node in enumerate(lattice.nodes) if node.kind is Kind.W and node.machine == lattice.nodes[2].machine
    )
    assert (windows.q[place, :3] >= 8 * MS // lattice.tick_ns).all()


def classes(compiled: Problem) -> list[int]:
    lattice = lattice_of(compiled, MOST)
    assert lattice is not None
    return sorted(node.count for node in lattice.nodes if node.kind is Kind.EXTRA and node.machine >= 0)


def test_extra_operations_are_joined_as_finely_as_states_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    named = [REDUCE | {"after": [stage], "size_mb": size} for stage, size in ((0, 4), (0, 4), (1, 4), (1, 3))]
    compiled = two_devices(*named)
    assert classes(compiled) == [1, 1, 2]  # alike in all
    monkeypatch.setattr(extras, "MOST_STATES_MORE", 4 * 8)
    assert classes(compiled) == [1, 3]  # of one duration
    monkeypatch.setattr(extras, "MOST_STATES_MORE", 4 * 5)
    assert classes(compiled) == [4]
    monkeypatch.setattr(extras, "MOST_STATES_MORE", 4 * 4)
    assert classes(compiled) == []
    assert bound_ms(compiled) <= 26


def test_orders_of_a_leaf_hold_extra_operations_that_are_in_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "MOST_STATES_MORE", 1)
    compiled = two_devices(REDUCE | {"after": [1]}, REDUCE | {"after": [0]})
    lattice = lattice_of(compiled, MOST)
    assert lattice is not None
    tables = Tables(lattice)
    found = Diver(tables).dive(19 * MS // lattice.tick_ns, Rule(1, 0), 0, 10**6, 10_000)
    assert found.windows is not None
    assert makespan_ns(replay(compiled, orders_of(compiled, tables, found.windows))) == 19 * MS
