"""Sweeps as a whole: every point is an answer, none contradicts another, a stopped sweep goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.property.tiny_specs import tiny_spec
from tests.solving import HereRunner
from tests.unit.sweeps.sweeping import SPEC, assert_settled, grid, swept

import crosspipe
import crosspipe.search.improve as improving
from crosspipe.answer.solve import solve
from crosspipe.errors import OptionError
from crosspipe.sweeps import solving
from crosspipe.sweeps.models import Sweep
from crosspipe.sweeps.run import sweep
from crosspipe.sweeps.store import SweepFileError

if TYPE_CHECKING:
    from pathlib import Path

    from crosspipe.answer.models import Answer
    from crosspipe.sweeps.progress import SweepProgress

AXES: dict[str, list[Any]] = {"memory_gb": [0.2, 0.3, 0.4], "latency_ms": [0, 4, 9]}


def test_a_sweep_is_exported_by_the_package() -> None:
    assert crosspipe.sweep is sweep
    assert crosspipe.Sweep is Sweep


def test_every_point_is_there_in_the_order_of_the_axes() -> None:
    found = swept(AXES)
    assert found.complete
    assert [tuple(point.at.values()) for point in found.points] == [
        (memory, latency) for memory in AXES["memory_gb"] for latency in AXES["latency_ms"]
    ]
    assert_settled(found, grid(AXES))
    assert Sweep.model_validate_json(found.model_dump_json()) == found


def random_sweep(seed: int, objective: str, **more: list[Any]) -> None:
    spec = tiny_spec(seed, devices=3, most_microbatches=5)
    spec["placement"] = {"traversal": "unidirectional"}
    first = spec["sites"]["s0"]["memory_gb"]
    axes = {"memory_gb": [first, first + 0.002], "latency_ms": [0, 3], "in_flight": [1, 3]} | more
    found = swept(axes, spec, objective=objective)
    assert_settled(found, grid(axes, spec))


@pytest.mark.parametrize(("seed", "objective"), [(0, "makespan"), (2, "makespan"), (5, "makespan"), (2, "span")])
def test_points_of_random_sweeps_never_contradict_each_other(seed: int, objective: str) -> None:
    """The greedy alone makes worse schedules for more memory now and then; what is worse is replaced."""
    random_sweep(seed, objective)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["makespan", "span"])
@pytest.mark.parametrize("seed", range(40))
def test_points_of_more_random_sweeps_never_contradict_each_other(seed: int, objective: str) -> None:
    random_sweep(seed, objective, **{"bandwidth_gbps:s0-s1": [4, 16], "latency_ms": [0, 2, 5]})


def test_a_bound_of_a_better_point_can_prove_a_worse_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 4 GB as at 5: what is proved there holds here, whatever the own search says."""

    def blind(spec: Any, **options: Any) -> Answer:
        answer = solve(spec, **options)
        if all(device.memory_mb == 5000 for device in answer.devices):
            return answer
        objective = answer.objective.model_copy(update={"lower_bound_ms": 1.0, "bound_from": "nothing"})
        return answer.model_copy(update={"objective": objective, "status": "feasible", "stop_reason": "time_limit"})

    monkeypatch.setattr(solving, "solve", blind)
    found = swept({"memory_gb": [4, 5]}, SPEC | {"training": {"microbatches": 2}})
    assert [point.status for point in found.points] == ["optimal", "optimal"]
    lent = found.points[0]
    assert lent.bound_from is not None
    assert lent.bound_from.startswith("neighbour 5 GB: ")
    assert lent.answer is not None
    assert lent.answer.certificate is None
    assert lent.answer.stop_reason == "proved"


def test_the_search_ends_where_a_neighbours_bound_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is searched at 4 GB, as the schedule of 5 GB fits and is proved there."""
    started = []

    class Watched(HereRunner):
        def run(self, *arguments: Any) -> Any:
            started.append(1)
            return super().run(*arguments)

    monkeypatch.setattr(improving, "Runner", Watched)
    spec = SPEC | {"training": {"microbatches": 6}}
    swept({"memory_gb": [0.9]}, spec, time_limit_s=20, workers=2)
    alone = len(started)
    found = swept({"memory_gb": [0.9, 1, 2]}, spec, time_limit_s=20, workers=2)
    assert [point.status for point in found.points] == ["optimal"] * 3
    assert len(started) - alone <= 1


def test_a_point_without_a_schedule_is_a_point() -> None:
    found = swept({"memory_gb": [0.05, 0.3], "latency_ms": [0, 4]})
    assert [point.status == "infeasible" for point in found.points] == [True, True, False, False]
    assert found.points[0].explanation is not None
    assert "west/1 is too small: each needs 100 MB" in found.points[0].explanation
    assert found.points[1].explanation == f"nor has neighbour 0.05 GB, 0 ms: {found.points[0].explanation}"
    assert found.points[0].value_ms is found.points[0].gap is found.points[0].lower_bound_ms is None


def test_microbatches_and_traversals_lend_nothing() -> None:
    stages = {"count": 8, **SPEC["model"]["stages"][0]}
    axes: dict[str, list[Any]] = {"traversal": ["loop", "wave"], "microbatches": [2, 4]}
    found = swept(axes, SPEC | {"model": {"stages": stages}, "placement": {"stages_per_device": 2}})
    assert len(found.points) == 4
    assert not any("neighbour" in f"{point.value_from} {point.bound_from}" for point in found.points)
    answers = [point.answer for point in found.points]
    assert [answer.traversal for answer in answers if answer is not None] == ["loop", "loop", "wave", "wave"]


def test_a_finite_bandwidth_is_compared_with_none() -> None:
    found = swept({"bandwidth_gbps": [5, 50]})
    assert [(point.at["bandwidth_gbps"], point.reference) for point in found.points] == [
        (5, False),
        (50, False),
        (None, True),
    ]
    (reading,) = found.readings
    assert reading.kind == "bandwidth_free"


def test_windows_rule_the_reference_out_not_the_sweep() -> None:
    """A link without any bandwidth ignores windows, so the spec refuses the two together."""
    link = SPEC["links"][0] | {"closed_ms": [[20, 30]]}
    found = swept({"bandwidth_gbps": [5, 50]}, SPEC | {"links": [link]})
    assert [point.reference for point in found.points] == [False, False]
    assert found.readings == []


def test_a_stopped_sweep_goes_on_from_its_file(tmp_path: Path) -> None:
    out = tmp_path / "points.jsonl"
    done: list[SweepProgress] = []

    def note(progress: SweepProgress) -> None:
        if progress.done:
            done.append(progress)

    stopped = swept(AXES, out=out, on_progress=note, should_stop=lambda: len(done) >= 4)
    assert not stopped.complete
    assert len(stopped.points) == len(out.read_text().splitlines()) == 4
    whole = swept(AXES, out=out, on_progress=note)
    assert whole.complete
    assert [progress.number for progress in done] == list(range(1, 10))
    assert {progress.count for progress in done} == {9}
    assert done[-1].left_s == 0
    assert_settled(whole, grid(AXES))
    again = swept(AXES, out=out, on_progress=note)
    assert len(done) == 9, "nothing is solved twice"
    assert again == whole


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda point: point.update(value_ms=1.0), "must tell the value of its schedule"),
        (lambda point: point.update(answer=None), "must hold the schedule whose value it tells"),
        (
            lambda point: point["answer"]["devices"][0]["operations"]["start_ms"].__setitem__(0, 2.5),
            "must hold a schedule: ",
        ),
    ],
    ids=["value", "no answer", "schedule"],
)
def test_a_file_is_not_believed(tmp_path: Path, change: Any, told: str) -> None:
    """Whatever stands in it, no schedule is told that the checker has not passed."""
    out = tmp_path / "points.jsonl"
    swept({"latency_ms": [4]}, out=out)
    row = json.loads(out.read_text())
    change(row["point"])
    out.write_text(json.dumps(row) + "\n")
    with pytest.raises(SweepFileError, match=told):
        swept({"latency_ms": [4]}, out=out)


def test_a_point_that_is_stopped_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopping(spec: Any, **options: Any) -> Answer:
        answer = solve(spec, **(options | {"should_stop": None}))
        options["should_stop"]()
        return answer.model_copy(update={"status": "feasible", "stop_reason": "stopped"})

    asked: list[int] = []

    def should_stop() -> bool:
        asked.append(1)
        return len(asked) > 1

    monkeypatch.setattr(solving, "solve", stopping)
    out = tmp_path / "points.jsonl"
    found = swept({"memory_gb": [0.3]}, out=out, should_stop=should_stop)
    assert not found.complete
    assert found.points == []
    assert out.read_text() == ""


def test_points_are_kept_for_other_axes_too(tmp_path: Path) -> None:
    """What names a point is its spec: another grid that passes through it takes it as it is."""
    out = tmp_path / "points.jsonl"
    swept({"latency_ms": [4]}, out=out)
    lines = len(out.read_text().splitlines())
    found = swept({"memory_gb": [0.3], "latency_ms": [4]}, out=out)
    assert len(out.read_text().splitlines()) == lines == 1
    assert found.points[0].at == {"memory_gb": 0.3, "latency_ms": 4}
    swept({"latency_ms": [4]}, out=out, objective="span")
    assert len(out.read_text().splitlines()) == 2


def test_more_time_solves_open_points_again_from_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "points.jsonl"
    spec = SPEC | {"training": {"microbatches": 7}}
    axes = {"memory_gb": [0.3], "latency_ms": [0, 6]}
    before = swept(axes, spec, out=out)
    assert {point.status for point in before.points} != {"optimal"}, "else the test shows nothing"
    monkeypatch.setattr(improving, "Runner", HereRunner)
    after = swept(axes, spec, out=out, time_limit_s=2, workers=2)
    for old, new in zip(before.points, after.points, strict=True):
        assert new.value_ms is not None
        assert old.value_ms is not None
        assert new.value_ms <= old.value_ms
        assert new.time_limit_s == (old.time_limit_s if old.status == "optimal" else 2)
    lines = len(out.read_text().splitlines())
    swept(axes, spec, out=out)
    assert len(out.read_text().splitlines()) == lines, "less time adds nothing"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"time_limit_s": -1}, "/time_limit_s"),
        ({"objective": "latency"}, "/objective"),
        ({"tolerance": 2}, "/tolerance"),
        ({"workers": 0}, "/workers"),
    ],
)
def test_an_option_out_of_range_is_named(options: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        swept(AXES, **options)
