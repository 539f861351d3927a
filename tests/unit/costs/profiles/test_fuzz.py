"""Whatever a file holds, it is read or refused in plain words."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.costs.profiles.samples import text_of

from crosspipe.costs.profiles.deepspeed import deepspeed_profile
from crosspipe.costs.profiles.kinds import KINDS, kind_of
from crosspipe.costs.profiles.megatron import megatron_profile
from crosspipe.costs.profiles.metis import metis_profile
from crosspipe.costs.profiles.profile import ProfileError
from crosspipe.costs.profiles.rows import csv_profile, json_profile
from crosspipe.costs.profiles.shares import Shares
from crosspipe.costs.profiles.text import profile_spec
from crosspipe.errors import SpecError
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosspipe.costs.profiles.profile import Profile

SAMPLES = [
    text_of(name)
    for name in (
        "layers.csv",
        "layers.json",
        "megatron.log",
        "megatron_all.log",
        "deepspeed.log",
        "metis/DeviceType.TOY_tp1_bs1.json",
    )
]
ODD: list[Any] = [None, True, -1, 0, "x", "", [], {}, 1e300, float("nan"), [1, "a", None], "9" * 100]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A sample with a piece of it cut out or put in."""
    text = draw(st.sampled_from(SAMPLES))
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 40)))
    return text[:start] + draw(st.text(max_size=5) | st.sampled_from(["\n", ",", "e9", "-", "}"])) + text[end:]


@st.composite
def document(draw: st.DrawFn) -> str:
    """A JSON sample with one value exchanged for an odd one."""
    tree: Any = json.loads(draw(st.sampled_from([SAMPLES[1], SAMPLES[5]])))
    here: Any = tree
    while True:
        key = draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here))))
        if not isinstance(here[key], dict | list) or not here[key] or draw(st.booleans()):
            here[key] = draw(st.sampled_from(ODD))
            return json.dumps(tree)
        here = here[key]


def read_all(text: str) -> None:
    assert kind_of("x", text) in KINDS
    reads: list[Callable[[], Profile]] = [
        lambda: csv_profile(text, "x", Shares()),
        lambda: json_profile(text, "x", Shares()),
        lambda: metis_profile({"DeviceType.X_tp1_bs1.json": text}, Shares()),
        lambda: megatron_profile(text, "x", stages=2, microbatches=16),
        lambda: deepspeed_profile(text, "x", stages=2),
    ]
    for read in reads:
        found: list[Profile] = []
        with suppress(ProfileError):
            found.append(read())
        for profile in found:
            with suppress(SpecError):
                assert parse_spec(profile_spec(profile, "x", None, None)).sites


@given(damaged() | st.text(max_size=200))
def test_damaged_files(text: str) -> None:
    read_all(text)


@given(document())
def test_odd_values(text: str) -> None:
    read_all(text)
