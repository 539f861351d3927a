"""The torch CSV and its sidecar."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.unit.export.pipelines import (
    COMBINED,
    SPLIT,
    TWO_SITES,
    WAN,
    greedy,
    known,
    one_forward_one_backward,
    pipeline,
    timed,
    zb_h1,
)

from crosspipe.errors import ExportError
from crosspipe.export.torch_csv import torch_csv
from crosspipe.export.torch_rules import forward_order, parse_rows
from crosspipe.problem.operations import Kind
from crosspipe.schedule.measure import peaks

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

TWO_DEVICES = {"here": {"devices": 2, "hop_latency_ms": 0}}
ONE_DEVICE = {"here": {"devices": 1}}


def two_ranks(work: Any, microbatches: object = 2, **more: object) -> Problem:
    return pipeline(2, microbatches, work, sites=TWO_DEVICES, links=[], **more)


def sidecar(problem: Problem, schedule: Schedule, replica: int = 0) -> dict[str, Any]:
    return torch_csv(problem, schedule, replica).sidecar


def codes(problem: Problem, schedule: Schedule) -> set[str]:
    return {caveat["code"] for caveat in sidecar(problem, schedule)["caveats"]}


def test_combined_one_forward_one_backward_in_full() -> None:
    problem = two_ranks(COMBINED)
    written = torch_csv(problem, one_forward_one_backward(problem))
    assert written.csv == "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"


def test_split_letters_are_torchs() -> None:
    problem = two_ranks(SPLIT)
    written = torch_csv(problem, zb_h1(problem))
    assert written.csv.splitlines()[1] == "1F0,1I0,1F1,1I1,1W0,1W1"
    letters: Any = written.sidecar["letters"]
    assert {one["crosspipe"]: one["torch"] for one in letters} == {"F": "F", "B": "I", "W": "W", "BW": "B"}


def test_stage_0_pair_side_by_side_becomes_one_full_backward() -> None:
    problem = two_ranks(SPLIT)
    written = torch_csv(problem, zb_h1(problem))
    assert written.csv.splitlines()[0] == "0F0,0F1,0B0,0B1"
    account: Any = written.sidecar["stage_0"]
    assert account["written_as_full_backward"] == [0, 1]
    assert account["kept_as_i_and_w"] == []
    assert "predicted_makespan_ms" not in account


def apart() -> tuple[Problem, Schedule]:
    """Two microbatches; on stage 0 the backwards B0, B1 come before the weight parts W0, W1."""
    problem = two_ranks(SPLIT | {"backward_extra_mb": 300})
    cells = [(Kind.F, 0), (Kind.F, 1), (Kind.B, 0), (Kind.B, 1), (Kind.W, 0), (Kind.W, 1)]
    return problem, timed(problem, [known(problem, stage, cells) for stage in range(2)])


def test_stage_0_pairs_with_work_between_stay_apart_and_their_cost_is_told() -> None:
    problem, schedule = apart()
    written = torch_csv(problem, schedule)
    assert written.csv.splitlines()[0] == "0F0,0F1,0I0,0I1,0W0,0W1"
    account: Any = written.sidecar["stage_0"]
    assert account["kept_as_i_and_w"] == [0, 1]
    # planned: F 0-10, 10-20; stage 1: F 10-20, 20-30, B 30-40, 40-50, W to 70; stage 0: B 40-50, 50-60, W to 80
    assert written.sidecar["predicted_makespan_ms"] == 80
    # under torch both I end at once at 40 and 50, then the whole backwards run 50-70, 70-90
    assert account["predicted_makespan_ms"] == 90
    # planned peak on rank 0: 500 static, twice 1000, and 300 as B of 0 starts; torch holds both microbatches when
    # W of 0 takes its 300, and gives 1300 back only at its end
    assert peaks(problem, schedule)[0].amount == 2_800_000_000
    assert account["predicted_peak_memory_mb"] == 2800


def test_stage_0_memory_of_b_moves_to_w() -> None:
    problem = two_ranks(SPLIT, 3)
    first = [(Kind.F, 0), (Kind.F, 1), (Kind.B, 0), (Kind.F, 2), (Kind.B, 1), (Kind.B, 2)]
    cells = first + [(Kind.W, j) for j in range(3)]
    other = [(kind, j) for j in range(3) for kind in (Kind.F, Kind.B, Kind.W)]
    schedule = timed(problem, [known(problem, 0, cells), known(problem, 1, other)])
    account = sidecar(problem, schedule)["stage_0"]
    assert peaks(problem, schedule)[0].amount == 500_000_000 + 2_400_000_000
    assert account["predicted_peak_memory_mb"] == 3500


def test_permuted_microbatches_are_renumbered_by_the_last_stage() -> None:
    problem = two_ranks(COMBINED, {"multipliers": [3, 1, 2], "order": "free"})
    order = (1, 2, 0)
    first = [(Kind.F, 1), (Kind.F, 2), (Kind.F, 0), (Kind.BW, 1), (Kind.BW, 2), (Kind.BW, 0)]
    last = [(kind, j) for j in order for kind in (Kind.F, Kind.BW)]
    written = torch_csv(problem, timed(problem, [known(problem, 0, first), known(problem, 1, last)]))
    assert forward_order(parse_rows(written.csv), 1) == (0, 1, 2)
    assert written.csv.splitlines()[0] == "0F0,0F1,0F2,0B0,0B1,0B2"
    told: Any = written.sidecar["microbatches"]
    assert told["renumbered"] is True
    assert told["crosspipe_of_torch"] == [1, 2, 0]
    assert told["multipliers"] == ["1", "2", "3"]
    durations: Any = written.sidecar["durations_ms"]
    assert durations[0] == {"stage": 0, "F": [10, 20, 30], "B": [20, 40, 60]}


def test_fixed_order_is_never_renumbered() -> None:
    problem = two_ranks(COMBINED, {"multipliers": [3, 1], "order": "fixed"})
    cells = [(Kind.F, 1), (Kind.F, 0), (Kind.BW, 1), (Kind.BW, 0)]
    schedule = timed(problem, [known(problem, stage, cells) for stage in range(2)])
    with pytest.raises(ExportError, match=r"^C3 last stage: .*fixed order"):
        torch_csv(problem, schedule)


def test_frozen_stage_is_refused_by_name() -> None:
    problem = two_ranks([{"forward_ms": 10, "frozen": True}, COMBINED])
    with pytest.raises(ExportError, match=r"^C1 coverage: .*stage 0 is frozen"):
        torch_csv(problem, greedy(problem))


def test_frozen_weights_are_a_full_backward_to_torch() -> None:
    problem = two_ranks([COMBINED, {"forward_ms": 10, "backward_input_ms": 10}])
    written = torch_csv(problem, greedy(problem))
    assert written.csv.splitlines()[1] == "1F0,1B0,1F1,1B1"
    durations: Any = written.sidecar["durations_ms"]
    assert durations[1] == {"stage": 1, "F": 10, "B": 10}


def test_device_without_a_stage_is_refused() -> None:
    problem = pipeline(2, 2, COMBINED, placement={"map": ["east/0", "west/0"]})
    with pytest.raises(ExportError, match=r"^C1 coverage: rank 1 holds no stage"):
        torch_csv(problem, greedy(problem))


@pytest.mark.parametrize("traversal", ["loop", "wave"])
def test_several_stages_on_a_rank(traversal: str) -> None:
    problem = pipeline(8, 4, placement={"traversal": traversal, "stages_per_device": 2})
    told = sidecar(problem, greedy(problem, cap=4))
    expected = {"loop": [0, 1, 2, 3, 0, 1, 2, 3], "wave": [0, 1, 2, 3, 3, 2, 1, 0]}[traversal]
    assert told["stage_to_rank"] == expected
    assert [rank["stages"] for rank in told["ranks"]] == [
        [stage for stage, rank in enumerate(expected) if rank == number] for number in range(4)
    ]


def test_one_rank_alone() -> None:
    problem = pipeline(2, 2, COMBINED, sites=ONE_DEVICE, links=[], placement={"map": ["here/0", "here/0"]})
    assert len(torch_csv(problem, greedy(problem)).csv.splitlines()) == 1


def test_sidecar_places_and_predicts() -> None:
    problem = pipeline()
    schedule = zb_h1(problem)
    told = json.loads(json.dumps(sidecar(problem, schedule)))
    assert [(rank["rank"], rank["device"], rank["site"]) for rank in told["ranks"]] == [
        (0, "east/0", "east"),
        (1, "east/1", "east"),
        (2, "west/0", "west"),
        (3, "west/1", "west"),
    ]
    assert told["ranks"][0]["predicted_peak_memory_mb"] == peaks(problem, schedule)[0].amount / 1e6
    assert told["ranks"][0]["memory_limit_mb"] == 16000
    assert told["predicted_makespan_ms"] == int(schedule.end_ns.max()) / 1e6
    assert told["digest"] == problem.digest
    assert (told["torch"]["from"], told["torch"]["to"]) == ("2.6", "2.13")
    assert told["durations_ms"][0] == {"stage": 0, "F": 10, "I": 10, "W": 10}


def test_a_lane_of_one_pair_in_order_raises_no_caveat_of_its_own() -> None:
    problem = pipeline()
    assert codes(problem, zb_h1(problem)) == {"start_times", "late_receives"}


def test_shared_lane_is_named() -> None:
    problem = pipeline(8, 4, placement={"traversal": "loop", "stages_per_device": 2}, links=[WAN | {"duplex": "half"}])
    caveats = {caveat["code"]: caveat for caveat in sidecar(problem, greedy(problem, cap=4))["caveats"]}
    assert caveats["shared_lane"]["lanes"] == ["east-west"]


def test_lane_that_overtakes_is_named() -> None:
    problem = pipeline(4, 2, COMBINED)
    schedule = one_forward_one_backward(problem)
    lane = next(r for r in range(4, problem.resources) if problem.resource_name(r) == "east-west/out")
    sequences = list(schedule.orders.sequences)
    sequences[lane] = sequences[lane][::-1]
    swapped = type(schedule.orders)(tuple(np.asarray(sequence) for sequence in sequences))
    caveats = {
        caveat["code"]: caveat
        for caveat in sidecar(problem, type(schedule)(schedule.start_ns, schedule.end_ns, swapped))["caveats"]
    }
    assert caveats["reordered_lane"]["lanes"] == ["east-west/out"]


def test_windows_extras_and_merged_replicas_are_told() -> None:
    problem = pipeline(
        links=[WAN | {"closed_ms": [[5, 9]]}],
        parallel={"tensor": 1, "pipeline": 4, "data": 3},
        extra_operations=[{"name": "all-reduce", "duration_ms": 5, "after": [0]}],
    )
    schedule = zb_h1(problem)
    assert {"windows", "extra_operations", "merged_replicas"} <= codes(problem, schedule)
    assert sidecar(problem, schedule)["replicas"]["each_stands_for"] == 3


def test_modelled_replicas_are_exported_one_at_a_time() -> None:
    problem = pipeline(parallel={"tensor": 1, "pipeline": 4, "data": 2, "replica_messages": "separate"})
    schedule = greedy(problem, cap=4)
    texts = [torch_csv(problem, schedule, replica).csv for replica in range(2)]
    assert [len(text.splitlines()) for text in texts] == [4, 4]
    told = sidecar(problem, schedule, 1)["replicas"]
    assert (told["exported"], told["modelled"]) == (1, 2)
    assert told["same_order_in_all"] == (texts[0] == texts[1])
    with pytest.raises(ExportError, match=r"^replica: must be one of 0\.\.1"):
        torch_csv(problem, schedule, 2)


def test_recomputed_stages_are_told_and_priced() -> None:
    option = {"activation_mb": 100, "recompute_ms": 7}
    problem = two_ranks([COMBINED | {"recompute_option": option}, COMBINED])
    plain = one_forward_one_backward(problem)
    orders = type(plain.orders)(plain.orders.sequences, frozenset({0}))
    told = sidecar(problem, type(plain)(plain.start_ns, plain.end_ns, orders))
    assert told["recomputed_stages"] == [0]
    assert told["durations_ms"][0]["B"] == 27
    assert "recompute" in {caveat["code"] for caveat in told["caveats"]}


def test_sites_keep_their_order() -> None:
    swapped = {"west": TWO_SITES["west"], "east": TWO_SITES["east"]}
    problem = pipeline(sites=swapped)
    assert [rank["site"] for rank in sidecar(problem, zb_h1(problem))["ranks"]] == ["west", "west", "east", "east"]
