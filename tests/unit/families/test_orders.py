"""The exact orders of the known schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.families.instances import Work, build, uniform

from crosspipe.errors import DoesNotFitError
from crosspipe.families.gpipe import gpipe
from crosspipe.families.interleaved import interleaved
from crosspipe.families.one_f_one_b import one_f_one_b, split_one_f_one_b
from crosspipe.families.steps import sequences_of
from crosspipe.families.zero_bubble import zb_h1, zb_h2
from crosspipe.problem.combine import combine
from crosspipe.problem.operations import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.families.steps import DeviceOrders
    from crosspipe.problem.problem import Problem


def words(problem: Problem, steps: Callable[[Problem], DeviceOrders]) -> list[str]:
    """Each device's order in words: `F0 F1 B0 W0`; the stage stands before the microbatch where there are several."""
    ops = problem.operations
    found = []
    for device, sequence in zip(problem.devices, sequences_of(problem, steps(problem)), strict=True):
        several = len(device.stages) > 1
        found.append(
            " ".join(
                f"{Kind(int(ops.kind[x])).name}{f'{ops.stage[x]}.' if several else ''}{ops.microbatch[x]}"
                for x in sequence
            )
        )
    return found


def test_gpipe() -> None:
    assert words(uniform(2, 2), gpipe) == ["F0 F1 B0 W0 B1 W1"] * 2


def test_gpipe_with_several_stages_per_device_goes_up_and_down_the_stages() -> None:
    problem = combine(uniform(1, 2, chunks=2))
    assert words(problem, gpipe) == ["F0.0 F0.1 F1.0 F1.1 BW1.0 BW1.1 BW0.0 BW0.1"]


def test_1f1b_combined() -> None:
    assert words(combine(uniform(3, 4)), one_f_one_b) == [
        "F0 F1 F2 BW0 F3 BW1 BW2 BW3",
        "F0 F1 BW0 F2 BW1 F3 BW2 BW3",
        "F0 BW0 F1 BW1 F2 BW2 F3 BW3",
    ]


def test_1f1b_split_runs_each_weight_half_at_once() -> None:
    assert words(uniform(2, 2), split_one_f_one_b) == ["F0 F1 B0 W0 B1 W1", "F0 B0 W0 F1 B1 W1"]


def test_zb_h1() -> None:
    assert words(uniform(3, 4), zb_h1) == [
        "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3",
        "F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3",
        "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3",
    ]


def test_zb_h2() -> None:
    assert words(uniform(2, 4), zb_h2) == [
        "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3",
        "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3",
    ]


def test_interleaved() -> None:
    assert words(combine(uniform(2, 2, chunks=2)), interleaved) == [
        "F0.0 F0.1 F2.0 F2.1 BW2.0 BW2.1 BW0.0 BW0.1",
        "F1.0 F1.1 F3.0 BW3.0 F3.1 BW3.1 BW1.0 BW1.1",
    ]


def test_interleaved_leaves_microbatches_out_of_the_next_full_round() -> None:
    whole = words(combine(uniform(2, 4, chunks=2)), interleaved)
    short = words(combine(uniform(2, 3, chunks=2)), interleaved)
    assert short == [" ".join(step for step in row.split() if not step.endswith(".3")) for row in whole]


@pytest.mark.parametrize("steps", [one_f_one_b, zb_h1, zb_h2, split_one_f_one_b])
def test_warm_up_is_capped_at_the_number_of_microbatches(steps: Callable[[Problem], DeviceOrders]) -> None:
    problem = uniform(5, 2)
    for sequence in sequences_of(problem, steps(problem)):
        kinds = [Kind(int(kind)) for kind in problem.operations.kind[sequence]]
        assert sorted(kinds) == [Kind.F] * 2 + [Kind.B] * 2 + [Kind.W] * 2


def test_frozen_and_input_only_stages_run_what_they_have() -> None:
    works = [Work(1), Work(1, 1), Work(1, 1, 1)]
    assert words(build(works, [0, 1, 2], 2), zb_h1) == ["F0 F1", "F0 F1 B0 B1", "F0 B0 F1 B1 W0 W1"]


def test_every_replica_runs_the_same_order() -> None:
    one = words(uniform(3, 4), zb_h1)
    works = [Work(1, 1, 1, activation=2, retained=1)] * 3
    assert words(build(works, [0, 1, 2], 4, replicas=2), zb_h1) == one * 2


@pytest.mark.parametrize("steps", [one_f_one_b, split_one_f_one_b, zb_h1, zb_h2])
def test_one_stage_per_device_is_required(steps: Callable[[Problem], DeviceOrders]) -> None:
    with pytest.raises(DoesNotFitError, match=r"site/0 holds 2 \(traversal: wave\)"):
        steps(uniform(2, 3, chunks=2, wave=True))


@pytest.mark.parametrize("steps", [split_one_f_one_b, zb_h1, zb_h2])
def test_a_split_backward_is_required(steps: Callable[[Problem], DeviceOrders]) -> None:
    with pytest.raises(DoesNotFitError, match="the backward of stage 0 is combined"):
        steps(combine(uniform(2, 3)))
    with pytest.raises(DoesNotFitError, match="no stage has a W"):
        steps(build([Work(1, 1), Work(1, 1)], [0, 1], 2))


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (uniform(2, 3), r"this is unidirectional \(2 stages on 2 devices\)"),
        (uniform(2, 3, chunks=2, wave=True), r"this is wave \(4 stages on 2 devices\)"),
    ],
)
def test_interleaved_requires_a_loop(problem: Problem, told: str) -> None:
    with pytest.raises(DoesNotFitError, match=told):
        interleaved(problem)
