"""Every malformed spec in `tests/data/bad` is refused with the one fault it is named for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosspipe.errors import SpecError
from crosspipe.spec.load import load_spec, parse_spec

FOLDER = Path(__file__).parents[2] / "data" / "bad"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def test_the_list_is_that_of_the_folder():
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.iterdir() if path.name != "expected.json")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_refused_with_its_fault_alone(name):
    with pytest.raises(SpecError) as caught:
        load_spec(FOLDER / name)
    assert [fault.pointer for fault in caught.value.faults] == [EXPECTED[name]["pointer"]]
    assert [fault.nearest for fault in caught.value.faults] == [EXPECTED[name]["nearest"]]
    assert caught.value.code == EXPECTED[name]["code"]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_faults_can_be_written_and_are_short(name):
    with pytest.raises(SpecError) as caught:
        parse_spec((FOLDER / name).read_bytes())
    for fault in caught.value.faults:
        assert str(fault).encode("utf-8")
        assert len(fault.value or "") <= 80
        assert len(fault.rule) <= 250
