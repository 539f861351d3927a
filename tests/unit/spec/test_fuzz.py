"""Whatever is thrown at the parser, it answers with a spec or a `SpecError`, and stands by its answer."""

from __future__ import annotations

import json
from copy import deepcopy
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.spec.documents import ARCHITECTURE, CONFIG, MEASURED, document, stage

from crosspipe.errors import SpecError
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.notices import spec_notices
from crosspipe.spec.schema import spec_schema

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

NAMES = sorted({name for model in spec_schema()["$defs"].values() for name in model["properties"]})

numbers = st.one_of(
    st.integers(-2, 12),
    st.integers(),
    st.floats(),
    st.decimals(allow_nan=False),
    st.sampled_from([0, 0.5, 1e-9, 1e12, 1e13, 10**400, 1e308]),
)
words = st.one_of(
    st.sampled_from(["east", "west", "east/0", "west/0", "wan", "wan/out", "auto", "half", "a->b", "", "/", "~"]),
    st.text(max_size=5),
    st.text(st.characters(categories=["Cs", "Cc"]), max_size=2),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, words, st.sampled_from([Decimal("NaN"), Decimal("sNaN")]))
keys = st.one_of(st.sampled_from(NAMES), words)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
wild = st.one_of(values, st.binary(max_size=3), st.sets(st.integers(), max_size=1), st.dictionaries(numbers, scalars))

RICH = document(
    name="rich",
    model={"stages": [stage(boundary_mb=12.5, recompute_option={"activation_mb": 1, "recompute_ms": 2}), stage()]},
    training={"microbatches": {"multipliers": [1, 0.5], "order": "fixed"}},
    parallel={"tensor": 1, "data": 2, "replica_messages": "separate"},
    sites={"east": {"pools": [{"devices": 1, "memory_gb": 8}], "hop_latency_ms": 1}, "west": {"devices": 1}},
    links=[
        {"from": "east", "to": "west", "rtt_ms": 30, "bandwidth_gbps": 10, "group": "wan", "closed_ms": [[0, 5]]},
        {"from": "west", "to": "east", "transfer_table": [[1, 2], [2, 3]], "group": "wan", "lane": "back"},
        {
            "between": ["east/0", "west/0"],
            "bandwidth_gbps": 5,
            "slow_ms": [[0, 5, 1]],
            "period_ms": 9,
            "anchor": "clock",
        },
    ],
    placement={"map": ["east/0", "west/0"]},
    extra_operations=[{"name": "reduce", "size_mb": 4, "lane": "wan/out", "after": [1]}],
    limits={"in_flight": [3, None], "deadline_ms": 900, "stage_deadlines_ms": {"0": 800}},
)
VALID = [
    RICH,
    document(),
    document(model=CONFIG),
    document(model={"layers": [{"forward_ms": 1, "frozen": True, "repeat": 3}, stage()]}),
    parse_spec(ARCHITECTURE).model_dump(mode="json", by_alias=True),
    parse_spec(MEASURED).model_dump(mode="json", by_alias=True),
]


def judge(source: Any) -> None:
    try:
        spec = parse_spec(source)
    except SpecError as error:
        refused = error.faults
    else:
        stands(spec)
        return
    assert refused
    for fault in refused:
        assert fault.pointer == "" or fault.pointer.startswith("/")
        assert len(fault.value or "") <= 80
        str(fault).encode("utf-8")


def stands(spec: Spec) -> None:
    again = parse_spec(spec.model_dump_json(by_alias=True))
    assert spec_digest(again) == spec_digest(spec)
    assert all(notice.message for notice in spec_notices(spec))


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(found for key, value in inside for found in places(value, (*path, key)))]


@st.composite
def bent_specs(draw: st.DrawFn) -> Any:
    tree = deepcopy(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 3))):
        ways = places(tree)
        path = draw(st.sampled_from(ways[1:] or [("model",)]))
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        change = draw(st.sampled_from(["replace", "remove", "add", "number"]))
        if change == "remove":
            del holder[path[-1]]
        elif change == "number":
            holder[path[-1]] = draw(numbers)
        elif change == "add" and isinstance(holder, dict):
            holder[draw(keys)] = draw(values)
        else:
            holder[path[-1]] = draw(wild)
        if not tree:
            break
    return tree


def test_the_valid_ones_are_valid():
    for tree in VALID:
        judge(tree)
        parse_spec(tree)


@given(st.dictionaries(keys, wild, max_size=6))
@settings(max_examples=200, deadline=None)
def test_any_mapping(tree):
    judge(tree)


@given(bent_specs())
@settings(max_examples=300, deadline=None)
def test_bent_specs(tree):
    judge(tree)


@given(bent_specs())
@settings(max_examples=200, deadline=None)
def test_bent_specs_as_json(tree):
    judge(json.dumps(tree, default=repr, skipkeys=True))


@given(st.one_of(st.text(), st.binary(), st.text("{}[]:,-?&*!|>'\"\n #%ab1.e", max_size=60)))
@settings(max_examples=300, deadline=None)
def test_any_text(source):
    judge(source)


@given(values)
@settings(max_examples=200, deadline=None)
def test_any_json_value(value):
    judge(json.dumps(value, default=str, skipkeys=True))
