"""Accounts of random schedules of every feature: the critical path is whole, idle parts add up, helps are bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.property.random_specs import random_spec

from crosspipe.accounts.run import explain
from crosspipe.answer.solve import solve
from crosspipe.answer.units import to_ns

if TYPE_CHECKING:
    from crosspipe.accounts.models import Account
    from crosspipe.answer.models import Answer

FEW, MANY = 24, 300
SEEDS = [seed if seed < FEW else pytest.param(seed, marks=pytest.mark.slow) for seed in range(MANY)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_part_of_the_makespan_is_accounted_for(seed: int) -> None:
    spec = random_spec(seed)
    objective = ("makespan", "span")[seed % 2]
    answer = solve(spec, time_limit_s=0, objective=objective, workers=1)
    account = explain(spec, answer)
    assert account.makespan_ms == answer.makespan_ms
    assert account.value_ms == answer.objective.value_ms
    assert_whole_path(account)
    assert_whole_waits(account, answer)
    for row in account.helps:
        assert account.value_ms is not None
        assert row.lower_bound_ms <= row.value_ms <= account.value_ms
    assert account.loads[0].busy_ms == max(load.busy_ms for load in account.loads)


def assert_whole_path(account: Account) -> None:
    """From 0 to the makespan, each stretch where the last one ends; the sums are those of the stretches."""
    now = 0
    for step in account.path:
        assert to_ns(step.start_ms) == now
        assert step.end_ms > step.start_ms
        now = to_ns(step.end_ms)
    assert account.makespan_ms is not None
    assert now == to_ns(account.makespan_ms)
    assert sum(to_ns(part.ms) for part in account.path_parts) == now
    assert sum(part.count for part in account.path_parts) == len(account.path)


def assert_whole_waits(account: Account, answer: Answer) -> None:
    """What the answer calls idle is given to causes, to the nanosecond."""
    assert len(account.devices) == len(answer.devices)
    for device, told in zip(account.devices, answer.devices, strict=True):
        assert (device.device, device.replica) == (told.device, told.replica)
        assert (device.busy_ms, device.idle_ms) == (told.busy_ms, told.idle_ms)
        assert sum(to_ns(part.ms) for part in device.idle) == to_ns(device.idle_ms)
        assert all(part.ms > 0 for part in device.idle)
