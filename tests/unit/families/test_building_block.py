"""Blocks in units of time, and what is pulled forward along them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.unit.families.instances import uniform

from crosspipe.families import v_half, v_min
from crosspipe.families.building_block import PERIOD, SLOTS, BuildingBlock, Slot, repeated
from crosspipe.families.squeeze import Squeeze
from crosspipe.families.squeeze_device import Manner
from crosspipe.families.v_placement import VPlacement
from crosspipe.families.zb_v import BLOCK


def test_starts_of_a_block() -> None:
    assert BLOCK.starts(2) == [[0, 7, 8, 15, 10, 17], [4, 5, 12, 13, 14, 15]]


def test_v_half_on_an_even_number_of_devices_needs_its_longer_loss() -> None:
    crowded = BuildingBlock(away=2, home=1, forward_turn=2, loss=1, backward_turn=1)
    starts = crowded.starts(4)
    assert any(len({start % PERIOD for start in row}) < PERIOD for row in starts)


@pytest.mark.parametrize("p", range(1, 65))
def test_blocks_repeat_without_overlap(p: int) -> None:
    blocks = {"ZB-V": BLOCK, "V-Half": v_half.block_for(p), "V-Min": v_min.block_for(p)}
    for name, block in blocks.items():
        for row in block.starts(p):
            assert len({start % PERIOD for start in row}) == PERIOD, name
            assert row[Slot.W_UPPER] > row[Slot.B_UPPER]
            assert row[Slot.W_LOWER] > row[Slot.B_LOWER]
            assert all(earlier < later for earlier, later in pairwise(row[: Slot.W_UPPER]))


def test_a_repeated_block_goes_by_time() -> None:
    assert repeated([0, 7, 8, 15, 10, 17], 2) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (2, 0),
        (4, 0),
        (1, 1),
        (2, 1),
        (3, 0),
        (4, 1),
        (5, 0),
        (3, 1),
        (5, 1),
    ]


def placement(capacity: int | None, latency: int = 5) -> VPlacement:
    return VPlacement.of(uniform(3, 6, latency=latency, capacity=capacity, chunks=2, wave=True))


@pytest.mark.parametrize("manner", [Manner(), Manner(yields=True), Manner(True, 1.0, 1.0, 0), Manner(False, 0.5, 2.0)])
@pytest.mark.parametrize("capacity", [12, 14, 24])
def test_every_run_does_all_and_keeps_its_room(manner: Manner, capacity: int) -> None:
    pipeline = placement(capacity)
    run = Squeeze(pipeline, BLOCK.starts(3)).run(manner)
    for device, order in enumerate(run.orders):
        assert sorted(order) == [(slot, j) for slot in range(len(SLOTS)) for j in range(6)]
        held = most = 0
        for slot, _ in order:
            most = max(most, held + pipeline.takes[device][slot])
            held += pipeline.net[device][slot]
        assert held == 0
        assert most <= capacity
    assert run.makespan >= run.span
    assert all(idle <= run.span - 36 for idle in run.idle)


def test_a_w_that_yields_comes_later() -> None:
    pipeline = placement(24)
    squeeze = Squeeze(pipeline, BLOCK.starts(3))
    kept, yielded = squeeze.run(Manner()).orders[0], squeeze.run(Manner(yields=True)).orders[0]
    assert kept.index((Slot.W_UPPER, 0)) < yielded.index((Slot.W_UPPER, 0))


def test_a_patient_device_waits_for_what_comes_before() -> None:
    pipeline = placement(24, latency=1)
    squeeze = Squeeze(pipeline, BLOCK.starts(3))
    hasty, patient = squeeze.run(Manner()), squeeze.run(Manner(patience=10.0))
    assert hasty.orders[1].index((Slot.F_UPPER, 0)) > patient.orders[1].index((Slot.F_UPPER, 0))


def test_a_device_of_the_most_idle_time_waits_no_longer() -> None:
    problem = uniform(
        4, 8, forward=10, backward_input=10, backward_weight=10, latency=2, capacity=16, chunks=2, wave=True
    )
    squeeze = Squeeze(VPlacement.of(problem), BLOCK.starts(4))
    waits = squeeze.run(Manner(patience=1.0, weight_patience=1.0)).orders[1]
    fills = squeeze.run(Manner(patience=1.0, weight_patience=1.0, allowed_idle=0)).orders[1]
    assert waits.index((Slot.B_LOWER, 6)) < waits.index((Slot.W_LOWER, 4))
    assert fills.index((Slot.W_LOWER, 4)) < fills.index((Slot.B_LOWER, 6))
