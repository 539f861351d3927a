"""Exported CSVs pass torch's own private validation and lowering, and the runtime loads them.

Torch's interfaces used here are private; the versions they hold for are those the sidecar names (2.6 to 2.13), tested
with the version of the `torch` extra.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.export.pipelines import COMBINED, greedy, one_forward_one_backward, pipeline, zb_h1

from crosspipe.export.registry import export
from crosspipe.export.torch_csv import torch_csv

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crosspipe.problem.problem import Problem
    from crosspipe.schedule.orders import Schedule

pytestmark = pytest.mark.torch

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed (the extra `torch`)", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns about its own deprecations while it is imported
    import torch
    import torch.distributed
    from torch.distributed.pipelining import PipelineStage, schedules
    from torch.testing._internal.distributed.fake_pg import FakeStore


def combined() -> tuple[Problem, Schedule]:
    problem = pipeline(work=COMBINED)
    return problem, one_forward_one_backward(problem)


def held_back() -> tuple[Problem, Schedule]:
    problem = pipeline()
    return problem, zb_h1(problem)


def interleaved() -> tuple[Problem, Schedule]:
    problem = pipeline(8, 8, placement={"traversal": "loop", "stages_per_device": 2})
    return problem, greedy(problem, cap=6)


def wave() -> tuple[Problem, Schedule]:
    problem = pipeline(8, 8, placement={"traversal": "wave", "stages_per_device": 2})
    return problem, greedy(problem, cap=6)


def any_map() -> tuple[Problem, Schedule]:
    names = ["west/1", "west/1", "east/0", "west/0", "east/1", "east/0"]
    problem = pipeline(6, 5, placement={"map": names})
    return problem, greedy(problem, cap=4)


def unlike_microbatches() -> tuple[Problem, Schedule]:
    problem = pipeline(4, {"multipliers": [4, 1, 2, 1, 3], "order": "free"}, work=COMBINED)
    return problem, greedy(problem)


CASES = [combined, held_back, interleaved, wave, any_map, unlike_microbatches]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def case(request: pytest.FixtureRequest) -> tuple[Problem, Schedule]:
    built: tuple[Problem, Schedule] = request.param()
    return built


def actions(text: str) -> dict[int, list[Any]]:
    """Read rows as torch reads them."""
    rows = text.splitlines()
    return {rank: [schedules._Action.from_str(cell) for cell in row.split(",")] for rank, row in enumerate(rows)}


def test_torch_reads_every_cell_as_written(case: tuple[Problem, Schedule]) -> None:
    text = torch_csv(*case).csv
    assert [[str(action) for action in row] for row in actions(text).values()] == [
        line.split(",") for line in text.splitlines()
    ]


def test_torch_accepts_the_orders_and_infers_our_map(case: tuple[Problem, Schedule]) -> None:
    problem, _ = case
    written = torch_csv(*case)
    found = schedules._validate_schedule(
        actions(written.csv), problem.devices_per_replica, len(problem.stages), problem.microbatches
    )
    assert [found[stage] for stage in range(len(problem.stages))] == written.sidecar["stage_to_rank"]


def test_torch_pairs_messages_without_deadlock(case: tuple[Problem, Schedule]) -> None:
    problem, _ = case
    rank_of: Any = torch_csv(*case).sidecar["stage_to_rank"]
    lowered = schedules._add_send_recv(actions(torch_csv(*case).csv), lambda stage: rank_of[stage], len(problem.stages))
    schedules._simulate_comms_compute(lowered, lambda stage: rank_of[stage], len(problem.stages))
    messages = [str(action) for row in lowered.values() for action in row if "SEND" in str(action)]
    away = sum(1 for a, b in pairwise(rank_of) if a != b)
    assert len(messages) == 2 * away * problem.microbatches


@pytest.fixture
def fake_group(case: tuple[Problem, Schedule]) -> Iterator[None]:
    """Pretend to be rank 0 of a group as large as the pipeline; no message is ever moved."""
    size = case[0].devices_per_replica
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=size)
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("fake_group")
def test_runtime_loads_the_files(case: tuple[Problem, Schedule], tmp_path: Path) -> None:
    problem, _ = case
    paths = []
    for file in export("torch-csv", *case):
        paths.append(tmp_path / f"schedule{file.suffix}")
        paths[-1].write_text(file.text, encoding="utf-8")
    told = json.loads(paths[1].read_text(encoding="utf-8"))
    mine = told["ranks"][0]["stages"]
    count = told["num_stages"]
    stages = [PipelineStage(torch.nn.Linear(2, 2), stage, count, torch.device("cpu")) for stage in mine]
    runtime = schedules._PipelineScheduleRuntime(stages, told["num_microbatches"], loss_fn=torch.nn.functional.mse_loss)
    runtime._load_csv(str(paths[0]), format="compute_only")
    assert [runtime.stage_index_to_group_rank[stage] for stage in range(count)] == told["stage_to_rank"]
    computed = [str(action) for action in runtime.pipeline_order_with_comms[0] if action.is_compute_op]
    assert computed == torch_csv(*case).csv.splitlines()[0].split(",")
    assert problem.digest == told["digest"]
