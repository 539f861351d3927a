"""A device runs one operation at a time."""

from __future__ import annotations

from tests.unit.model.draft import Draft, accepts

from crosspipe.model.devices import add_devices
from crosspipe.problem.operations import Kind


def _two_on_a_device() -> Draft:
    draft = Draft([(0,), (1,)])
    draft.op(Kind.F, 0, 0, 3, 0)
    draft.op(Kind.EXTRA, -1, 0, 2, 0)
    draft.op(Kind.F, 1, 0, 3, 1)
    return draft


def test_an_overlap_is_cut() -> None:
    assert not accepts(_two_on_a_device(), add_devices, [0, 2, 0])


def test_back_to_back_is_kept_and_other_devices_run_at_the_same_time() -> None:
    assert accepts(_two_on_a_device(), add_devices, [0, 3, 1])
