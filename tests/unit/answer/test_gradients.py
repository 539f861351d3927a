"""Steps with gradients, whole: optima derived by hand for every sharding and for what crosses sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.solving import assert_sound

from crosspipe.answer.solve import check, solve

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer

# 100 MB over k places at 800 Gb/s: 1 / k ms and `latency_ms` for each of the k - 1 steps of a phase.
STAGE: dict[str, Any] = {
    "forward_ms": 1,
    "backward_input_ms": 1,
    "backward_weight_ms": 1,
    "activation_mb": 10,
    "weights_mb": 100,
}
SHARDINGS = ("none", "zero1", "full")


def step(
    stages: int = 1, microbatches: int = 1, data: int = 2, sites: int = 1, across: str = "pipeline", **more: Any
) -> dict[str, Any]:
    """Stages in one site, or spread over two; links of 800 Gb/s and 1 ms."""
    each, fields = stages if across == "data" else stages // sites, more.pop("stage", {})
    hop = {"hop_bandwidth_gbps": 800, "hop_latency_ms": 0}
    return {
        "model": {"stages": [STAGE | fields for _ in range(stages)]},
        "training": {"microbatches": microbatches},
        "parallel": {"data": data, "across_sites": across},
        "sites": {f"s{number}": {"devices": each} | hop for number in range(sites)},
        "links": [{"between": ["s0", "s1"], "bandwidth_gbps": 800, "one_way_latency_ms": 1}] if sites > 1 else [],
        "gradients": {"latency_ms": 0.25},
    } | more


def proved(spec: dict[str, Any]) -> Answer:
    answer = solve(spec, time_limit_s=10)
    assert answer.status == "optimal"
    assert_sound(spec, answer)
    return answer


def value(spec: dict[str, Any]) -> float | None:
    return proved(spec).objective.value_ms


def gradients(**fields: Any) -> dict[str, Any]:
    return {"latency_ms": 0.25, **fields}


@pytest.mark.parametrize("sharding", SHARDINGS)
def test_in_one_site_two_phases_of_the_ring_stand_around_the_work(sharding: str) -> None:
    """Four copies: 3 x (0.25 + 0.25) ms a phase, one before and one after 3 ms of work, or both after it."""
    assert value(step(data=4, gradients=gradients(sharding=sharding))) == 3 + 2 * 1.5


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("pieces", [1, 4])
def test_whole_pipelines_in_each_site_sum_over_the_link(sharding: str, pieces: int) -> None:
    """One copy in each of two sites: 1 x (1 + 0.5) ms a phase, however it is cut."""
    spec = step(sites=2, across="data", gradients=gradients(sharding=sharding, pieces=pieces))
    assert value(spec) == 3 + 2 * 1.5


@pytest.mark.parametrize("sharding", SHARDINGS)
def test_copies_in_a_site_sum_before_the_link_and_gather_after_it(sharding: str) -> None:
    """Two copies in each of two sites: (0.25 + 0.5) + (1 + 0.5) ms a phase; the link's ways run side by side."""
    spec = step(data=4, sites=2, across="data", gradients=gradients(sharding=sharding))
    assert value(spec) == 3 + 2 * (0.75 + 1.5)


@pytest.mark.parametrize(("sharding", "milliseconds"), [("none", 10), ("zero1", 10), ("full", 10)])
def test_gradients_share_the_wires_with_activations(sharding: str, milliseconds: float) -> None:
    """Two stages in two sites, copies of both in both; messages of no length and 1 ms.

    zero1: the gather of stage 0 takes the link until 0.5 and is there at 1.5, that of stage 1 at 2. F 1.5 to 2.5,
    F of stage 1 3.5, B 4.5 to 5.5, B of stage 0 6.5, W 7.5 to 8.5; the reduce arrives at 8.5 + 0.5 + 1. none: W of
    stage 0 ends at 7, two phases of 1.5 follow.
    """
    spec = step(stages=2, sites=2, across="both", gradients=gradients(sharding=sharding))
    assert value(spec) == milliseconds


def test_a_reduce_waits_for_the_last_weights_and_overlaps_the_rest() -> None:
    """Two stages on one site: stage 1 reduces while stage 0 works; only that of stage 0 is exposed.

    F F1 B1 B W: 5 ms, then 2 x (0.5 + 0.25) for the all-reduce. Stage 1 is done after F1 B1 W1 at 4 and 5.5.
    """
    answer = proved(step(stages=2, gradients=gradients(sharding="none")))
    assert answer.objective.value_ms == 5 + 1.5
    found = {row.name: (row.start_ms, row.end_ms, row.lane) for row in answer.extra_operations}
    assert found["reduce of stage 0"] == (5.0, 6.0, "gradients of s0/0")
    assert found["reduce of stage 1"][0] >= 4.0
    assert any(note.startswith("extra operations: 0.0 ms of the step pass before") for note in answer.notes)
    assert any("1.5 ms after the last" in note for note in answer.notes)


def test_two_stages_of_a_device_take_turns_on_its_lane() -> None:
    """One device, two stages, 6 ms of work; each reduces for 1 ms, the second one last: one is exposed."""
    spec = step(gradients={"sharding": "none", "latency_ms": 0})
    spec["model"]["stages"] *= 2
    answer = proved(spec | {"placement": {"stages_per_device": 2}})
    assert answer.objective.value_ms == 7


def test_tied_stages_sum_before_they_reduce() -> None:
    """Stage 0 has its W at 5, both at 5; 2 x (0.5 x 50 MB) on both lanes of a hop = 0.5 ms, then 0.5 a phase.

    The hop has 800 Gb/s: 50 MB over two devices in two phases send 50 MB, 0.5 ms, once for each of the two replicas.
    """
    given = {"sharding": "none", "latency_ms": 0, "tied": [[0, 1]], "tied_mb": 50}
    answer = proved(step(stages=2, gradients=given))
    names = [row.name for row in answer.extra_operations]
    assert "sum of tied stages 0, 1, s0/0->s0/1" in names
    ends = {row.name: row.end_ms for row in answer.extra_operations}
    starts = {row.name: row.start_ms for row in answer.extra_operations}
    assert starts["reduce of stage 0"] >= ends["sum of tied stages 0, 1, s0/0->s0/1"]
    assert answer.objective.value_ms == 5 + 2 * 0.5 + 1 - 0.5


def test_tied_stages_on_one_device_need_no_sum() -> None:
    given = {"sharding": "none", "tied": [[0, 1]], "tied_mb": 50}
    spec = step(gradients=given, placement={"stages_per_device": 2})
    spec["model"]["stages"] *= 2
    assert not any("tied" in row.name for row in proved(spec).extra_operations)


def test_gathered_weights_take_memory_until_the_last_backward() -> None:
    """100 MB gathered beside two activations of 10 MB: with 120 MB both microbatches are in flight, with 115 one."""
    spec = step(microbatches=2, gradients=gradients(sharding="full"))
    roomy, tight = (spec | {"sites": {"s0": spec["sites"]["s0"] | {"memory_gb": gb}}} for gb in (0.12, 0.115))
    assert proved(roomy).devices[0].peak_memory_mb <= 120
    answer = proved(tight)
    assert answer.devices[0].peak_memory_mb == 110
    curve = solve(tight, time_limit_s=5, detail="full").devices[0].memory_curve
    assert curve is not None
    assert curve.memory_mb[0] >= 100
    assert curve.memory_mb[-1] == 0


def test_what_cannot_be_gathered_is_refused_with_need_and_supply() -> None:
    spec = step(stages=2, gradients=gradients(sharding="full"))
    spec["sites"]["s0"]["memory_gb"] = 0.105
    answer = solve(spec, time_limit_s=5)
    assert answer.status == "infeasible"
    assert answer.explanation is not None
    (reason,) = answer.explanation.reasons
    assert (reason.needs, reason.has) == (110_000_000, 105_000_000)
    assert "100 MB of gathered weights + 10 MB for one microbatch" in reason.message


def test_gathers_that_follow_each_other_need_no_room_together_and_those_of_trained_stages_do() -> None:
    """A frozen stage and two trained ones on one device: 100 MB, then 200 and 10 for an F."""
    spec = step(gradients=gradients(sharding="full"), placement={"stages_per_device": 3})
    frozen = {"forward_ms": 1, "frozen": True, "activation_mb": 10, "weights_mb": 100}
    spec["model"]["stages"] = [frozen, dict(STAGE), dict(STAGE)]
    spec["sites"]["s0"]["memory_gb"] = 0.209
    answer = solve(spec, time_limit_s=5)
    assert answer.status == "infeasible"
    assert answer.explanation is not None
    assert "200 MB of gathered weights of stages 1 and 2 + 10 MB for one F" in answer.explanation.summary
    spec["sites"]["s0"]["memory_gb"] = 0.225
    answer = proved(spec)
    assert answer.devices[0].peak_memory_mb <= 225


def test_more_than_three_stages_of_a_device_stay_gathered_and_the_answer_says_so() -> None:
    spec = step(gradients=gradients(sharding="full"), placement={"stages_per_device": 4})
    spec["model"]["stages"] *= 4
    answer = proved(spec)
    assert not any(row.name.startswith("reshard") for row in answer.extra_operations)
    assert any(note.startswith("gradients.sharding: ") for note in answer.notes)
    assert answer.devices[0].peak_memory_mb >= 400


@pytest.mark.parametrize("sharding", SHARDINGS)
def test_a_frozen_stage_sums_nothing_but_is_gathered_where_all_is_shared_out(sharding: str) -> None:
    spec = step(stages=2, gradients=gradients(sharding=sharding))
    spec["model"]["stages"][0] = {"forward_ms": 1, "frozen": True, "activation_mb": 10, "weights_mb": 100}
    spec["sites"]["s0"]["memory_gb"] = 0.2
    names = [row.name for row in proved(spec).extra_operations]
    assert "reduce of stage 1" in names
    assert "reduce of stage 0" not in names
    assert ("gather of stage 0" in names) == (sharding == "full")


@pytest.mark.parametrize(("pieces", "milliseconds"), [(1, 25), (4, 23)])
def test_pieces_fill_holes_between_messages(pieces: int, milliseconds: float) -> None:
    """Four stages on two sites, 2 ms a hop inside, messages of 1 ms and 1 ms latency between; stage 3 alone sums 8 ms.

    F at 0, 3, 6, 9; B of stage 3 at 10, its W at 11, B of stage 2 at 13: the gradient has the link from 14 to 15, the
    step ends at 21 without reduces. Whole, the reduce has room behind it alone, 15 to 23, and arrives 2 ms later. A
    quarter of it fits in before, from 12 to 14; the rest runs until 21.
    """
    spec = step(stages=4, sites=2, across="both", stage={"boundary_mb": 50, "weights_mb": 0})
    spec["model"]["stages"][3] |= {"reduced_mb": 800}
    for site in spec["sites"].values():
        site |= {"hop_latency_ms": 2, "hop_bandwidth_gbps": None}
    assert value(spec | {"gradients": {"sharding": "none", "pieces": pieces}}) == milliseconds


def test_collectives_on_links_of_every_replica_are_read_again() -> None:
    spec = step(stages=2, sites=2, across="both", gradients=gradients(sharding="full", pieces=2))
    spec["parallel"]["replica_messages"] = "separate"
    spec["links"][0]["per_replica"] = True
    answer = proved(spec)
    assert "s0-s1/out" in {row.lane for row in answer.extra_operations}


def test_the_checker_judges_collectives_by_itself() -> None:
    """Let F begin before its weights are there, a reduce before its W has ended, and memory be short."""
    spec = step(stages=2, data=4, gradients=gradients(sharding="full"))
    answer = proved(spec)
    assert broken(spec, answer) == set()
    early = broken(spec, answer, ("reduce of stage 1", -0.5))
    assert {("dependency", "extra operation reduce of stage 1")} == early
    assert ("dependency", "F of stage 1, microbatch 0") in broken(spec, answer, ("gather of stage 1", 3))
    tight = spec | {"sites": {"s0": spec["sites"]["s0"] | {"memory_gb": 0.105}}}
    assert {kind for kind, _ in broken(tight, answer)} == {"memory"}


def broken(spec: dict[str, Any], answer: Answer, moved: tuple[str, float] = ("", 0)) -> set[tuple[str, str]]:
    """Rules that the answer's operations break once one of them is moved: their kinds, and the later operation."""
    rows: list[list[Any]] = []
    for device in answer.devices:
        columns = device.operations
        assert columns is not None
        for kind, stage, microbatch, start in zip(
            columns.kind, columns.stage, columns.microbatch, columns.start_ms, strict=True
        ):
            rows.append([kind, stage, microbatch, device.replica, start])
    for row in answer.extra_operations:
        rows.append(["extra", row.name, row.start_ms + (moved[1] if row.name == moved[0] else 0)])
    return {(found.kind, found.operations[-1]) for found in check(spec, {"operations": rows}).violations}
