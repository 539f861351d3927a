from __future__ import annotations

import json
from decimal import Decimal

import pytest
from tests.unit.costs.profiles.samples import only_fault, spec_from, text_of

from crosspipe.costs.profiles.profile import ProfileError
from crosspipe.costs.profiles.rows import csv_profile, json_profile
from crosspipe.costs.profiles.shares import Shares
from crosspipe.spec.stages import LayersModel


def test_a_table_becomes_layers() -> None:
    spec, told = spec_from("layers.csv")
    assert isinstance(spec.model, LayersModel)
    embedding, decoder, last, head = spec.model.layers
    assert (decoder.repeat, last.group, head.group, embedding.tied) == (22, "tail", "tail", "vocabulary")
    assert decoder.forward_ms == decoder.backward_input_ms == 6
    assert decoder.backward_weight_ms == 4
    assert "assumed: F : B : W" in told
    assert "missing" not in told


def test_a_list_becomes_layers_with_all_their_fields() -> None:
    spec, told = spec_from("layers.json")
    assert isinstance(spec.model, LayersModel)
    vision, decoder, _ = spec.model.layers
    assert vision.frozen
    assert decoder.full is not None
    assert decoder.full.recompute_ms == 4
    assert "assumed" not in told


def test_tabs_comments_and_flags() -> None:
    text = "# a note\n\nname\tforward_ms\tfrozen\tsite\n# more\na\t1.5\ttrue\tnorth\n"
    profile = csv_profile(text, "x.tsv", Shares())
    assert profile.model == {"layers": [{"name": "a", "forward_ms": Decimal("1.5"), "frozen": True, "site": "north"}]}
    assert len(profile.missing) == 4


@pytest.mark.parametrize(
    ("text", "place", "nearest"),
    [
        ("", "x.csv", None),
        ("# nothing\n", "x.csv", None),
        ("name,forward_ms\n", "x.csv", None),
        ("name,forwrd_ms\na,1\n", "x.csv line 1", "forward_ms"),
        ("name,name\na,b\n", "x.csv line 1", None),
        ("forward_ms,backward_ms\n1\n", "x.csv line 2", None),
        ("forward_ms,backward_ms\n\n1,2\n# note\n1,2ms\n", "x.csv line 5 backward_ms", None),
        ("forward_ms,backward_ms\n1,2\n-1,2\n", "x.csv line 3 forward_ms", "0.000001"),
        ("forward_ms,frozen\n1,maybe\n", "x.csv line 2 frozen", None),
        ("forward_ms\n1\n", "x.csv line 2", None),
        ("forward_ms,forward_backward_ms\n1,2\n", "x.csv line 2", None),
        ("forward_backward_ms\n0\n", "x.csv line 2", None),
        ("forward_ms,backward_ms,group\n1,2,a\n1,2,\n1,2,a\n", "x.csv line 4 group", None),
        ('name,forward_ms,backward_ms\n"a\nb",1,2\n', "x.csv", None),
        ('name,forward_ms,backward_ms\n"a"b,1,2\n', "x.csv", None),
    ],
)
def test_a_bad_table_is_refused_where_it_is_wrong(text: str, place: str, nearest: str | None) -> None:
    with pytest.raises(ProfileError) as caught:
        csv_profile(text, "x.csv", Shares())
    assert (only_fault(caught).pointer, only_fault(caught).nearest) == (place, nearest)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({}, "x.json"),
        ({"layers": []}, "x.json"),
        ({"layers": [1]}, "x.json layers/0"),
        ({"layers": [{"forward_ms": 1, "backward_ms": 2}, {"forward_ms": 1, "what": 2}]}, "x.json layers/1 what"),
        ({"layers": [{"forward_ms": "1", "backward_ms": 2}]}, "x.json layers/0 forward_ms"),
        ({"layers": [{"forward_backward_ms": True}]}, "x.json layers/0"),
    ],
)
def test_a_bad_list_is_refused_where_it_is_wrong(document: object, place: str) -> None:
    with pytest.raises(ProfileError) as caught:
        json_profile(json.dumps(document), "x.json", Shares())
    assert place in {fault.pointer for fault in caught.value.faults}


def test_too_many_layers_are_refused() -> None:
    text = "forward_ms,backward_ms\n" + "1,2\n" * 1025
    with pytest.raises(ProfileError, match="1024"):
        csv_profile(text, "x.csv", Shares())


def test_pins_need_no_sites_yet() -> None:
    profile = csv_profile("forward_ms,backward_ms,device\n1,2,north/3\n1,2,\n", "x.csv", Shares())
    assert profile.model["layers"]


def test_the_samples_are_read_as_text_alone() -> None:
    assert csv_profile(text_of("layers.csv"), "layers.csv", Shares()).stages is None
