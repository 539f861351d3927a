"""Reading whole documents: both examples of the design, every form of text, all faults at once."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from tests.unit.spec.documents import ARCHITECTURE, CONFIG, MEASURED, document, faults, stage

from crosspipe.errors import SpecError, SpecSyntaxError
from crosspipe.spec.cluster import Link
from crosspipe.spec.load import load_spec, parse_spec
from crosspipe.spec.stages import HuggingFaceModel, LayersModel, StagesModel, UniformStages


def test_architecture_example():
    spec = parse_spec(ARCHITECTURE)
    assert spec.model == "llama-3-70b"
    assert (spec.parallel.tensor, spec.parallel.pipeline, spec.parallel.data) == (8, 8, 16)
    assert list(spec.sites) == ["east", "west"]
    assert spec.links == [
        Link(between=("east", "west"), bandwidth_gbps=Decimal(400), one_way_latency_ms=Decimal(15)),
    ]


def test_measured_example_is_read_exactly():
    spec = parse_spec(MEASURED)
    assert isinstance(spec.model, StagesModel)
    assert isinstance(spec.model.stages, UniformStages)
    assert spec.model.stages.forward_ms == Decimal("18.522")
    assert spec.sites["east"].hop_latency_ms == Decimal("0.601")


@pytest.mark.parametrize("text", [ARCHITECTURE, MEASURED])
def test_round_trip(text):
    spec = parse_spec(text)
    assert parse_spec(spec.model_dump_json(by_alias=True)) == spec
    assert parse_spec(spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)) == spec


def test_json_and_yaml_say_the_same():
    written = document()
    assert parse_spec(json.dumps(written)) == parse_spec(written)
    assert parse_spec(json.dumps(written, indent=2).encode()) == parse_spec(written)
    assert parse_spec("﻿" + json.dumps(written)) == parse_spec(written)


def test_flow_yaml_may_begin_like_json():
    text = (
        "{model: {stages: [{forward_ms: 1, backward_ms: 2}]}, training: {microbatches: 1}, sites: {a: {devices: 1}},}"
    )
    assert parse_spec(text).training.microbatches == 1


def test_floats_of_a_mapping_are_read_as_written():
    spec = parse_spec(document(links=[{"between": ["east", "west"], "bandwidth_gbps": 0.1}]))
    assert spec.links[0].bandwidth_gbps == Decimal("0.1")


def test_all_faults_at_once():
    broken = document(
        model={"stages": [stage(forward_ms="ten"), stage(backward_ms=16)]},
        sites={"east": {"devises": 1}, "west": {"devices": 1, "gpus": 8}},
        links=[{"between": ["east", "west"], "rtt_ms": 30, "one_way_latency_ms": 15}, {"between": ["east", "west"]}],
        extra_operations=[{"name": "reduce"}],
    )
    assert sorted(faults(broken)) == [
        "/extra_operations/0",
        "/links/0/rtt_ms",
        "/links/1",
        "/model/stages/0/forward_ms",
        "/model/stages/1/backward_ms",
        "/sites/east/devises",
        "/sites/west/devices",
        "/sites/west/gpu",
    ]


def test_a_repeated_key_hides_no_other_fault():
    text = json.dumps(document(trainign={})).replace('"devices": 1', '"devices": 1, "devices": 1', 1)
    assert faults(text) == ["/sites/east/devices", "/trainign"]


def test_an_integer_may_be_written_as_a_float():
    assert parse_spec(document(training={"microbatches": 24.0})).training.microbatches == 24
    assert faults(document(training={"microbatches": 24.5})) == ["/training/microbatches"]


@pytest.mark.parametrize(
    ("model", "pointers"),
    [
        ({"stages": {"count": 2, "forward_ms": 1}}, ["/model/stages"]),
        ({"stages": {"forward_ms": 1, "backward_ms": 1}}, ["/model/stages/count"]),
        ({"stages": [{"forward_ms": 1}]}, ["/model/stages/0"]),
        ({"stages": [1]}, ["/model/stages/0"]),
        ({"layers": [{"forward": 1}]}, ["/model/layers/0/forward_ms", "/model/layers/0/forward"]),
        ({"layer": []}, ["/model/layers", "/model/layer"]),
        ({"num_hidden_layers": 2, **{k: v for k, v in CONFIG.items() if k != "vocab_size"}}, ["/model/vocab_size"]),
        (12, ["/model"]),
        (None, ["/model"]),
        ([], ["/model"]),
        ("", ["/model"]),
    ],
)
def test_faults_speak_of_the_form_the_user_meant(model, pointers):
    assert faults(document(model=model)) == pointers


def test_one_form_of_parallel_and_microbatches():
    assert faults(document(parallel={"tensor": "atuo", "data": 0})) == ["/parallel/tensor", "/parallel/data"]
    assert faults(document(training={"microbatches": {"multipliers": [1, -1]}})) == [
        "/training/microbatches/multipliers/1"
    ]
    assert faults(document(limits={"in_flight": [2, 0]})) == ["/limits/in_flight/1"]


def test_forms_of_the_model():
    layers = parse_spec(document(model={"layers": [{"forward_ms": 1, "backward_ms": 2, "repeat": 4}]}))
    assert isinstance(layers.model, LayersModel)
    config = parse_spec(document(model=CONFIG))
    assert isinstance(config.model, HuggingFaceModel)
    assert config.model.num_key_value_heads == 8


def test_python_names_are_for_python_alone():
    assert Link(from_="east", to="west").from_ == "east"
    written = document(links=[{"from": "east", "to": "west", "bandwidth_gbps": 1}])
    assert parse_spec(written).links[0].from_ == "east"


def test_a_config_beside_the_spec_is_inlined(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "spec.yaml").write_text(ARCHITECTURE.replace("llama-3-70b", "config.json"))
    spec = load_spec(tmp_path / "spec.yaml")
    assert isinstance(spec.model, HuggingFaceModel)
    assert spec.model.hidden_size == 4096


@pytest.mark.parametrize(
    ("content", "pointer"),
    [(None, "/model"), ("{", "/model"), ("[]", "/model"), ('{"hidden_size": 0}', "/model/hidden_size")],
)
def test_faults_of_a_config_are_those_of_the_model(tmp_path, content, pointer):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    (tmp_path / "spec.yaml").write_text(ARCHITECTURE.replace("llama-3-70b", "config.json"))
    with pytest.raises(SpecError) as caught:
        load_spec(tmp_path / "spec.yaml")
    assert caught.value.faults[0].pointer == pointer


def test_a_missing_file_is_a_fault(tmp_path):
    with pytest.raises(SpecError, match="must be a file that can be read: No such file"):
        load_spec(tmp_path / "spec.yaml")


def test_the_size_of_a_number_never_matters():
    for text in ("1e999999", "-1e-999999", "9" * 100_000, "1e99999999999999999999", "0e-99999"):
        written = json.dumps(document()).replace("100", text, 1)
        assert len(faults(written)) == 1, text


@pytest.mark.parametrize("opening", ["[", '{"a":', "- ", "? ", "a:\n "])
def test_endless_nesting_is_refused(opening):
    with pytest.raises(SpecError):
        parse_spec(opening * 100_000)


def test_the_name_of_a_file_is_not_its_text():
    for name in ("cluster.yaml", "a/b.yml", "spec.json"):
        with pytest.raises(SpecError, match="this is the name of a file, give its text"):
            parse_spec(name)
    with pytest.raises(SpecError, match=r"must be a mapping with `model`, `training` and `sites` \(got 'x'\)"):
        parse_spec("x")


def test_syntax_has_its_own_class():
    with pytest.raises(SpecSyntaxError, match="line 1 column 5"):
        parse_spec("a: b: c")
    with pytest.raises(SpecSyntaxError, match="UTF-8"):
        parse_spec("a: \ud800")


def test_the_first_hundred_faults_are_listed():
    many = document(links=[{"between": ["east", "north"], "speed": 1}] * 1000)
    assert len(faults(many)) == 101
    repeated = '{"a": 1' + ', "a": 1' * 1000 + "}"
    assert len(faults(repeated)) <= 102
