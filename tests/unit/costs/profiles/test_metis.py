from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.cli.running import call
from tests.unit.costs.profiles.samples import FOLDER, only_fault, spec_from, text_of

from crosspipe.costs.profiles.metis import Key, key_of, metis_profile
from crosspipe.costs.profiles.metis_file import read_metis
from crosspipe.costs.profiles.profile import ProfileError
from crosspipe.costs.profiles.shares import Shares, shares_of
from crosspipe.errors import OptionError
from crosspipe.spec.stages import LayersModel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / "metis").iterdir()}
ONE = "DeviceType.TOY_tp1_bs1.json"


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    document: dict[str, Any] = json.loads(FILES[ONE])
    change(document)
    return json.dumps(document)


def test_names_say_what_was_measured() -> None:
    assert key_of("DeviceType.A100_tp4_bs2.json") == Key("A100", 4, 2)
    for name in ("DeviceType.A100_tp0_bs2.json", "DeviceType._tp1_bs2.json", "../DeviceType.A100_tp1_bs2.json", "x"):
        assert key_of(name) is None


def test_a_folder_becomes_layers() -> None:
    """Memory grows by 600 MB from batch 1 to 2 in a layer, 1500 in the head, not at all in the embedding."""
    spec, told = spec_from("metis")
    assert isinstance(spec.model, LayersModel)
    embedding, layer, head = spec.model.layers
    assert (embedding.name, layer.name, layer.repeat, head.name) == ("embedding", "layer", 4, "head")
    assert layer.forward_ms + (layer.backward_input_ms or 0) + (layer.backward_weight_ms or 0) == 20
    assert layer.forward_ms == Decimal("7.5")
    memory = [(each.activation_mb, each.static_mb) for each in (embedding, layer, head)]
    assert memory == [(Decimal(0), Decimal(3000)), (Decimal(600), Decimal(1800)), (Decimal(1500), Decimal(2500))]
    assert layer.weights_mb == 150
    for text in (
        "TOY tp1 bs1: 6 layers",
        "80.9 ms, 80.0 % of the 101.1 ms measured",
        "optimizer's step of 28.5 ms",
        "OLD takes 2.483 times as long",
        "assumed: F : B : W = 3 : 3 : 2",
        "missing: boundary_mb",
    ):
        assert text in told


def test_one_file_alone_takes_parameters_for_what_is_held() -> None:
    spec, told = spec_from(f"metis/{ONE}", "--boundary-mb", 16, "--kind", "metis", "--stages", 3)
    assert isinstance(spec.model, LayersModel)
    assert [layer.static_mb for layer in spec.model.layers] == [1800, 1350, 1800]
    assert {layer.boundary_mb for layer in spec.model.layers} == {16}
    assert sum(site.devices or 0 for site in spec.sites.values()) == 3
    assert "missing: boundary_mb" not in told


def test_another_profile_of_the_folder_is_chosen() -> None:
    spec, told = spec_from("metis", "--tensor", 2, "--shares", "1:1:1")
    assert isinstance(spec.model, LayersModel)
    layer = spec.model.layers[1]
    assert layer.forward_ms == Decimal("3.666667")
    assert layer.static_mb == 675
    assert "TOY tp2 bs1" in told
    assert "the memory list is one short" in told
    with pytest.raises(ProfileError) as caught:
        metis_profile(FILES, Shares(), tensor=8)
    assert "TOY tp2 bs1" in only_fault(caught).rule
    assert only_fault(caught).value == "'tensor 8'"


def test_a_folder_without_profiles_is_refused() -> None:
    with pytest.raises(ProfileError, match="DeviceType"):
        metis_profile({"notes.txt": ""}, Shares())


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda d: d.pop("execution_time"), ONE),
        (lambda d: d.update(execution_memory=[1]), ONE),
        (lambda d: d["execution_time"].pop("layer_compute_total_ms"), f"{ONE} execution_time"),
        (lambda d: d["execution_time"].update(layer_compute_total_ms=[1, 2]), f"{ONE} execution_time"),
        (
            lambda d: d["execution_time"]["layer_compute_total_ms"].__setitem__(2, "20"),
            f"{ONE} execution_time/layer_compute_total_ms/2",
        ),
        (
            lambda d: d["execution_time"]["layer_compute_total_ms"].__setitem__(2, 0),
            f"{ONE} execution_time/layer_compute_total_ms",
        ),
        (
            lambda d: d["execution_memory"]["layer_memory_total_mb"].__setitem__(0, -1),
            f"{ONE} execution_memory/layer_memory_total_mb/0",
        ),
        (
            lambda d: d["execution_memory"].update(layer_memory_total_mb=[1, 2, 3, 4, 5]),
            f"{ONE} execution_memory/layer_memory_total_mb",
        ),
        (
            lambda d: d["model"]["parameters"].update(parameters_per_layer_bytes=[1, 2, 3]),
            f"{ONE} model/parameters/parameters_per_layer_bytes",
        ),
        (lambda d: d["execution_time"].update(optimizer_time_ms=True), f"{ONE} execution_time/optimizer_time_ms"),
        (
            lambda d: d["execution_time"].update(optimizer_time_ms=float("nan")),
            f"{ONE} execution_time/optimizer_time_ms",
        ),
    ],
)
def test_a_malformed_file_is_refused_where_it_is_wrong(change: Callable[[dict[str, Any]], object], place: str) -> None:
    with pytest.raises(ProfileError) as caught:
        read_metis(changed(change), ONE)
    assert only_fault(caught).pointer == place


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "a": 2}', "null", '{"execution_time": 1}', "[" * 5000])
def test_what_is_no_profile_at_all_is_refused(text: str) -> None:
    with pytest.raises(ProfileError):
        read_metis(text, ONE)


def test_links_and_folders_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "DeviceType.DIR_tp1_bs1.json").mkdir()
    (tmp_path / "DeviceType.LINK_tp1_bs1.json").symlink_to(FOLDER / "metis" / ONE)
    result = call("spec", "from", tmp_path)
    assert result.exit_code == 2
    assert "invalid_profile" in result.stderr
    (tmp_path / ONE).write_text(text_of(f"metis/{ONE}"))
    assert "TOY tp1 bs1: 6 layers" in call("spec", "from", tmp_path).stderr


@pytest.mark.parametrize("text", ["", "1:1", "0:1:1", "a:b:c", "1:1:1:1", "1e9:1:1", "-1:1:1"])
def test_shares_are_three_numbers(text: str) -> None:
    with pytest.raises(OptionError):
        shares_of(text)


def test_shares_add_up() -> None:
    parts = shares_of("1:2:0.5").split(Decimal("10.0000004"))
    assert sum(parts.values()) == 10
    assert parts["backward_input_ms"] == Decimal("5.714286")
