from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.unit.cli.running import call
from tests.unit.costs.profiles.samples import FOLDER, only_fault, spec_from, text_of

from crosspipe.costs.profiles.deepspeed import deepspeed_profile
from crosspipe.costs.profiles.kinds import kind_of
from crosspipe.costs.profiles.megatron import megatron_profile
from crosspipe.costs.profiles.profile import ProfileError
from crosspipe.costs.profiles.reading import MOST_BYTES_IN_FOLDER, file_text, folder_texts
from crosspipe.costs.profiles.rows import MOST_LETTERS, csv_profile
from crosspipe.costs.profiles.shares import Shares
from crosspipe.costs.profiles.text import profile_spec
from crosspipe.spec.stages import Stage, StagesModel, UniformStages

if TYPE_CHECKING:
    from pathlib import Path


def stages_of(name: str, *options: object) -> list[Stage]:
    spec, _ = spec_from(name, *options)
    assert isinstance(spec.model, StagesModel)
    assert isinstance(spec.model.stages, list)
    return spec.model.stages


def test_the_largest_rank_stands_for_all_stages() -> None:
    """The two blocks after the first both have 640 ms of F over 16 microbatches; of the backward the median counts."""
    stages = stages_of("megatron.log", "--stages", 4, "--microbatches", 16)
    assert [(stage.forward_ms, stage.backward_ms) for stage in stages] == [(Decimal(40), Decimal("80.5"))] * 4


def test_every_rank_is_told_of_its_own_stage() -> None:
    stages = stages_of("megatron_all.log", "--stages", 2, "--microbatches", 16, "--boundary-mb", 33.6)
    times = [(stage.forward_ms, stage.backward_ms) for stage in stages]
    assert times == [(Decimal("10.0625"), Decimal("20.125")), (Decimal("12.625"), Decimal(25))]
    assert {stage.boundary_mb for stage in stages} == {Decimal("33.6")}


def test_the_largest_alone() -> None:
    text = "max time across ranks (ms):\n    forward-compute ....: 32.00\n    backward-compute ...: 64.00\n"
    profile = megatron_profile(text, "log", stages=1, microbatches=8)
    assert profile.model == {"stages": [{"forward_ms": 4, "backward_ms": 8}]}


@pytest.mark.parametrize(
    ("text", "stages", "batches", "part"),
    [
        ("", 4, 16, "--timing-log-level 2"),
        ("forward-compute ....: (1.00, 2.00)", 4, 16, "--timing-log-level 2"),
        (text_of("megatron.log"), None, 16, "--stages"),
        (text_of("megatron.log"), 4, None, "--microbatches"),
        (text_of("megatron_all.log"), 3, 16, "multiple of 3"),
        (text_of("megatron_all.log").replace("     rank  3: 202.00\n", ""), 4, 16, "same ranks"),
        (text_of("megatron_all.log").replace("     rank  3: 398.00\n", ""), 4, 16, "same ranks"),
    ],
)
def test_a_log_that_does_not_tell_is_refused(text: str, stages: int | None, batches: int | None, part: str) -> None:
    with pytest.raises(ProfileError) as caught:
        megatron_profile(text, "log", stages=stages, microbatches=batches)
    assert part in only_fault(caught).rule


def test_the_whole_model_is_cut_into_like_stages() -> None:
    spec, told = spec_from("deepspeed.log", "--stages", 4)
    assert isinstance(spec.model, StagesModel)
    assert isinstance(spec.model.stages, UniformStages)
    assert (spec.model.stages.forward_ms, spec.model.stages.backward_ms) == (Decimal(100), Decimal(200))
    assert "bwd_inner_microstep" in told


def test_without_the_inner_time_the_backward_counts() -> None:
    line = "time (ms) | fwd_microstep: 10.00 | bwd_microstep: 20.00\n"
    assert deepspeed_profile(line, "log", stages=2).model == {
        "stages": {"count": 2, "forward_ms": 5, "backward_ms": 10}
    }


@pytest.mark.parametrize(("text", "stages"), [("", 2), ("time (ms) | fwd: 1.00", 2), (text_of("deepspeed.log"), None)])
def test_times_that_are_not_there_are_refused(text: str, stages: int | None) -> None:
    with pytest.raises(ProfileError):
        deepspeed_profile(text, "log", stages=stages)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("layers.csv", "csv"),
        ("layers.json", "json"),
        ("megatron.log", "megatron"),
        ("megatron_all.log", "megatron"),
        ("deepspeed.log", "deepspeed"),
        ("metis/DeviceType.TOY_tp1_bs1.json", "metis"),
    ],
)
def test_files_are_known_by_what_they_hold(name: str, kind: str) -> None:
    assert kind_of("stdin", text_of(name)) == kind


def test_stdin_is_read_too() -> None:
    result = call("spec", "from", "-", stdin=text_of("layers.csv"))
    assert result.exit_code == 0
    assert result.stdout.startswith("# From -.")


@pytest.mark.parametrize(
    "arguments",
    [
        (FOLDER / "nowhere.csv",),
        (FOLDER / "layers.csv", "--kind", "pickle"),
        (FOLDER / "layers.csv", "--kind", "metis"),
        (FOLDER / "metis", "--kind", "csv"),
        (FOLDER / "layers.csv", "--shares", "1"),
        (FOLDER / "layers.csv", "--stages", 30),
        ("/dev/null", "--kind", "csv"),
    ],
)
def test_what_cannot_be_read_is_told_in_plain_words(arguments: tuple[object, ...]) -> None:
    result = call("spec", "from", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error [")
    assert result.stdout == ""


def test_bytes_that_are_no_text_and_files_too_large_are_refused(tmp_path: Path) -> None:
    assert "byte 0" in call("spec", "from", "-", stdin=b"\xff\xfe").stderr
    with pytest.raises(ProfileError, match="at most 0 MiB"):
        file_text(FOLDER / "layers.csv", 10)
    large = tmp_path / "DeviceType.X_tp1_bs1.json"
    large.write_bytes(b" " * (MOST_BYTES_IN_FOLDER + 1))
    with pytest.raises(ProfileError, match="at most 1 MiB"):
        folder_texts(tmp_path, lambda _: True)
    with pytest.raises(ProfileError, match="no log"):
        csv_profile("#" * (MOST_LETTERS + 1), "x", Shares())


def test_a_line_without_end_is_no_timer() -> None:
    log = "a" * 10**6 + "\n" + text_of("megatron.log")
    assert megatron_profile(log, "log", stages=4, microbatches=16).stages == 4


def test_the_name_of_a_file_cannot_add_lines() -> None:
    profile = csv_profile("forward_ms,backward_ms\n1,2\n", "x", Shares())
    assert "\nlimits" not in profile_spec(profile, "x\nlimits: {}", None, 1)
