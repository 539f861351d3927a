"""Which extra operations may be exchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from tests.building import STAGE, problem

from crosspipe.problem.likeness import twins
from crosspipe.problem.operations import NO_DEADLINE, Holdings

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem


def _with(extras: list[dict[str, object]]) -> Problem:
    link = {"between": ["a", "b"], "bandwidth_gbps": 8, "group": "wan"}
    sites = {"a": {"devices": 1}, "b": {"devices": 1}}
    named = [{"name": str(number)} | extra for number, extra in enumerate(extras)]
    return problem([STAGE | {"boundary_mb": 1}] * 2, 2, sites=sites, links=[link], extra_operations=named)


def test_pieces_of_one_reduction_are_alike_and_others_are_not() -> None:
    piece: dict[str, object] = {"size_mb": 2, "lane": "wan/out", "after": [1]}
    others: list[dict[str, object]] = [piece | {"size_mb": 3}, piece | {"after": [0]}, piece | {"lane": "wan/back"}]
    compiled = _with([piece, *others, piece])
    numbers = [number for _, number in compiled.extras]
    assert twins(compiled) == [[numbers[0], numbers[4]]]


def test_what_occupies_nothing_needs_no_order() -> None:
    piece: dict[str, object] = {"duration_ms": 2, "after": [1]}
    assert twins(_with([piece, piece])) == []


def test_deadlines_and_memory_tell_them_apart() -> None:
    piece: dict[str, object] = {"size_mb": 2, "lane": "wan/out", "after": [1]}
    compiled = _with([piece, piece])
    first, second = (number for _, number in compiled.extras)
    due = np.full(len(compiled.operations), NO_DEADLINE, dtype=np.int64)
    due[first] = 10**9
    assert twins(replace(compiled, due_ns=due)) == []
    held = compiled.holdings
    more = [np.append(x, y) for x, y in ((held.pool, 0), (held.taken_by, first), (held.given_by, second))]
    assert twins(replace(compiled, holdings=Holdings(*more, np.append(held.amount, 1)))) == []
