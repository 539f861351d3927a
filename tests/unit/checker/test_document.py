"""Schedule documents: both forms, exact times, pointers to every fault, and no other exception on any JSON value."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.checker.drafts import Draft, array

from crosspipe.checker.check import check
from crosspipe.checker.document import placed_from_document
from crosspipe.checker.placed import Placed
from crosspipe.checker.reading import MOST_FAULTS, whole_ns
from crosspipe.errors import ScheduleFormatError
from crosspipe.problem.links import Lane
from crosspipe.problem.operations import Kind, RecomputeChoice

if TYPE_CHECKING:
    from decimal import Decimal

    from crosspipe.problem.problem import Problem


def two_replicas() -> Problem:
    """Two replicas of one device each; a shared lane, one lane per replica, and extras on each sort of place."""
    draft = Draft(
        devices=["east/0"],
        replicas=2,
        lanes=[Lane("wan/out", "wan", None), Lane("own", "own", 0), Lane("own", "own", 1)],
        choices=[RecomputeChoice(0, array([0]), array([7]), array([]), array([]))],
    )
    for replica in range(2):
        draft.add(Kind.F, 0, 0, 1_500_000, replica, replica)
        draft.add(Kind.ACTIVATION, 0, 0, 1_000_000, 2, replica)
        draft.add(Kind.GRADIENT, 0, 0, 1_000_000, 3 + replica, replica)
    draft.once("reduce", 2_000_000, 2)
    draft.once("norm", 1, 0)
    draft.once("vote", 1)
    return draft.problem()


def answer() -> dict[str, Any]:
    """An answer as CrossPipe writes it, further keys included."""
    return {
        "status": "feasible",
        "makespan_ms": 7,
        "devices": [
            {
                "device": "east/0",
                "replica": replica,
                "busy_ms": 1.5,
                "operations": {"kind": ["F"], "stage": [0], "microbatch": [0], "start_ms": [0], "end_ms": [1.5]},
            }
            for replica in range(2)
        ],
        "transfers": [
            {
                "lane": "wan/out",
                "replica": None,
                "operations": {
                    "kind": ["activation", "activation", "extra"],
                    "stage": [0, 0, None],
                    "microbatch": [0, 0, None],
                    "replica": [0, 1, None],
                    "name": [None, None, "reduce"],
                    "start_ms": [1.5, 2.5, 3.5],
                    "end_ms": [2.5, 3.5, 5.5],
                    "arrival_ms": [4, 5, None],
                },
            },
            *(
                {
                    "lane": "own",
                    "replica": replica,
                    "operations": {"kind": ["gradient"], "stage": [0], "microbatch": [0], "start_ms": [3]},
                }
                for replica in range(2)
            ),
        ],
        "extra_operations": [
            {"name": "reduce", "start_ms": 3.5, "end_ms": 5.5, "lane": "wan/out", "device": None},
            {"name": "norm", "start_ms": 6, "device": "east/0"},
            {"name": "vote", "start_ms": 0.000001, "end_ms": 0.000002},
        ],
        "recomputed_stages": [],
    }


ROWS: dict[str, Any] = {
    "operations": [
        ["F", 0, 0, 0, 0, 1.5],
        ["F", 0, 0, 1, 0],
        ["activation", 0, 0, 0, 1.5],
        ["activation", 0, 0, 1, 2.5],
        ["gradient", 0, 0, 0, 3],
        ["gradient", 0, 0, 1, 3, None],
        ["extra", "reduce", 3.5, 5.5],
        ["extra", "norm", 6],
        ["extra", "vote", 1e-06],
    ],
    "recomputed_stages": [0],
}


def faults(document: object) -> dict[str, str]:
    with pytest.raises(ScheduleFormatError) as raised:
        placed_from_document(two_replicas(), document)
    return {fault.pointer: str(fault) for fault in raised.value.faults}


def changed(document: dict[str, Any], pointer: str, value: object) -> dict[str, Any]:
    document = copy.deepcopy(document)
    place: Any = document
    *path, last = (int(part) if part.isdigit() else part for part in pointer.split("/")[1:])
    for part in path:
        place = place[part]
    place[last] = value
    return document


def test_an_answer_is_read_with_its_places_and_ends() -> None:
    placed, recomputed = placed_from_document(two_replicas(), answer())
    assert recomputed == frozenset()
    assert placed == (
        Placed(Kind.F, 0, 0, 0, 0, 1_500_000, 0),
        Placed(Kind.F, 0, 0, 1, 0, 1_500_000, 1),
        Placed(Kind.ACTIVATION, 0, 0, 0, 1_500_000, 2_500_000, 2),
        Placed(Kind.ACTIVATION, 0, 0, 1, 2_500_000, 3_500_000, 2),
        Placed(Kind.EXTRA, -1, 0, 0, 3_500_000, 5_500_000, 2, "reduce"),
        Placed(Kind.GRADIENT, 0, 0, 0, 3_000_000, None, 3),
        Placed(Kind.GRADIENT, 0, 0, 1, 3_000_000, None, 4),
        Placed(Kind.EXTRA, -1, 0, 0, 6_000_000, None, 0, "norm"),
        Placed(Kind.EXTRA, -1, 0, 0, 1, 2, None, "vote"),
    )
    assert check(two_replicas(), placed).ok


def test_rows_are_read() -> None:
    placed, recomputed = placed_from_document(two_replicas(), ROWS)
    assert recomputed == frozenset({0})
    assert [row.start_ns for row in placed] == [
        0,
        0,
        1_500_000,
        2_500_000,
        3_000_000,
        3_000_000,
        3_500_000,
        6_000_000,
        1,
    ]
    assert [row.end_ns for row in placed if row.end_ns is not None] == [1_500_000, 5_500_000]
    assert check(two_replicas(), placed).ok


def test_an_extra_operation_told_twice_with_unlike_times_is_a_duplicate() -> None:
    placed, _ = placed_from_document(two_replicas(), changed(answer(), "/extra_operations/0/start_ms", 4))
    assert {violation.kind.value for violation in check(two_replicas(), placed).violations} == {"duplicate"}


def test_an_operation_on_another_device_is_read_and_left_to_the_checker() -> None:
    document = changed(answer(), "/extra_operations/1/device", None)
    document = changed(document, "/extra_operations/1/lane", "own")
    placed, _ = placed_from_document(two_replicas(), document)
    assert {violation.kind.value for violation in check(two_replicas(), placed).violations} == {"wrong_resource"}


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/devices", None, "array"),
        ("/devices/0", 3, "object"),
        ("/devices/0/device", "east/1", "nearest legal: east/0"),
        ("/devices/0/device", 7, "string"),
        ("/devices/0/replica", 2, "nearest legal: 0, 1"),
        ("/devices/0/replica", "0", "whole number"),
        ("/devices/0/operations", [], "object"),
        ("/devices/0/operations/kind", "F", "array"),
        ("/devices/0/operations/kind/0", "activation", "kind of operation here"),
        ("/devices/0/operations/stage", [0, 0], "as long as `kind` (got 2); nearest legal: 1"),
        ("/devices/0/operations/stage", None, "array"),
        ("/devices/0/operations/stage/0", 1.0, "whole number"),
        ("/devices/0/operations/stage/0", True, "whole number"),
        ("/devices/0/operations/microbatch/0", 10**400, "more than 20 digits"),
        ("/devices/0/operations/start_ms/0", None, "number of milliseconds (got null)"),
        ("/devices/0/operations/start_ms/0", "0", "number of milliseconds"),
        ("/devices/0/operations/start_ms/0", True, "number of milliseconds (got true)"),
        ("/devices/0/operations/start_ms/0", 1e-7, "6 decimals"),
        ("/devices/0/operations/start_ms/0", float("nan"), "below 10^18"),
        ("/devices/0/operations/start_ms/0", float("-inf"), "below 10^18"),
        ("/devices/0/operations/start_ms/0", 10**400, "below 10^18"),
        ("/devices/0/operations/end_ms/0", {}, "number of milliseconds (got an object)"),
        ("/transfers/0/lane", "wan/back", "nearest legal: wan/out"),
        ("/transfers/0/replica", 0, "nearest legal: null"),
        ("/transfers/0/operations/kind/0", "F", "kind of operation here"),
        ("/transfers/0/operations/replica/0", "x", "whole number"),
        ("/transfers/0/operations/name/2", None, "string"),
        ("/extra_operations", {}, "array"),
        ("/extra_operations/0", "reduce", "object"),
        ("/extra_operations/0/name", None, "string"),
        ("/extra_operations/0/start_ms", [], "number of milliseconds (got an array)"),
        ("/extra_operations/0/lane", "nowhere", "known lane"),
        ("/extra_operations/1/device", "west/0", "known device"),
        ("/recomputed_stages", 0, "array"),
        ("/recomputed_stages", [1], "nearest legal: 0"),
    ],
)
def test_a_fault_of_an_answer_is_pointed_at(pointer: str, value: object, words: str) -> None:
    found = faults(changed(answer(), pointer, value))
    (where,) = found
    assert where in {pointer, f"{pointer}/0"}
    assert words in found[where]


@pytest.mark.parametrize(
    ("pointer", "value", "at", "words"),
    [
        ("/operations", {}, "/operations", "array"),
        ("/operations/0", "F", "/operations/0", "array"),
        ("/operations/0", [], "/operations/0", "[kind, stage, microbatch, replica, start_ms, end_ms?] (got 0 entries)"),
        ("/operations/0", ["F", 0, 0, 0], "/operations/0", "got 4 entries"),
        ("/operations/6", ["extra", "reduce"], "/operations/6", "[extra, name, start_ms, end_ms?] (got 2 entries)"),
        ("/operations/0/0", "f", "/operations/0/0", "kind of operation (got 'f'); nearest legal: "),
        ("/operations/0/0", "extr", "/operations/0/0", "kind of operation"),
        ("/operations/0/1", None, "/operations/0/1", "whole number"),
        ("/operations/0/4", 0.1234567, "/operations/0/4", "got 0.1234567"),
        ("/operations/0/5", "1", "/operations/0/5", "number of milliseconds"),
        ("/operations/6/1", 3, "/operations/6/1", "string"),
        ("/recomputed_stages/0", 0.0, "/recomputed_stages/0", "whole number"),
    ],
)
def test_a_fault_of_a_row_is_pointed_at(pointer: str, value: object, at: str, words: str) -> None:
    found = faults(changed(ROWS, pointer, value))
    assert list(found) == [at]
    assert words in found[at]


@pytest.mark.parametrize("document", [None, 3, "text", [], [{}], True])
def test_a_document_is_an_object(document: object) -> None:
    assert "object" in faults(document)[""]


def test_an_object_without_operations_is_no_schedule() -> None:
    assert "`operations` (rows) or `devices` (an answer)" in faults({"status": "infeasible"})[""]


def test_all_faults_are_collected_up_to_a_bound() -> None:
    document = {"operations": [["F", "x", 0, 0, 0]] * 3 + [["?"] * 5], "recomputed_stages": ["a"]}
    assert len(faults(document)) == 9
    assert len(faults({"operations": [["?", 0, 0, 0, 0]] * 5000})) == MOST_FAULTS


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("0.1", 100_000),
        ("1e-06", 1),
        ("-0.0", 0),
        ("999999999.999999", 999_999_999_999_999),
        ("0.30000000000000004", None),
        ("1e-07", None),
        ("1e-300", None),
        ("123.0", 123_000_000),
        ("1e17", 10**23),
        ("1814.900001", 1_814_900_001),
        ("-2.5", -2_500_000),
    ],
)
def test_milliseconds_are_read_exactly(text: str, time_ns: int | None) -> None:
    document = {"operations": json.loads(f'[["F", 0, 0, 0, {text}]]')}
    if time_ns is None:
        assert "whole number of nanoseconds" in faults(document)["/operations/0/4"]
    else:
        assert placed_from_document(two_replicas(), document)[0][0].start_ns == time_ns


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**17), max_value=10**17))
def test_whole_nanoseconds_are_those_without_a_fraction(time_ms: Decimal) -> None:
    exact = time_ms.as_integer_ratio()
    whole, rest = divmod(exact[0] * 10**6, exact[1])
    assert whole_ns(time_ms) == (whole if rest == 0 else None)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
words = st.sampled_from(["F", "BW", "extra", "activation", "east/0", "wan/out", "own", "reduce", 0, 1, -1, 1.5, None])
values = st.recursive(
    scalars | words,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=20,
)
keys = st.sampled_from(["operations", "devices", "transfers", "extra_operations", "recomputed_stages"])


def paths(document: object, here: str = "") -> list[str]:
    """Pointers to all parts that `changed` can follow: keys that read as a number or hold a slash are left out."""
    children: list[tuple[Any, Any]] = list(enumerate(document)) if isinstance(document, list) else []
    if isinstance(document, dict):
        children = [(key, child) for key, child in document.items() if not key.isdigit() and "/" not in key]
    return [path for key, child in children for path in (f"{here}/{key}", *paths(child, f"{here}/{key}"))]


def read_or_refuse(document: object) -> None:
    """Read, judge, and demand that a refusal says where; a JSON document can do nothing else."""
    problem = two_replicas()
    pointers = ["unread"]
    try:
        placed, recomputed = placed_from_document(problem, document)
        check(problem, placed, recomputed)
        pointers = [""]
    except ScheduleFormatError as error:
        pointers = [fault.pointer for fault in error.faults]
    assert pointers
    assert all(pointer == "" or pointer.startswith("/") for pointer in pointers)


@settings(max_examples=300)
@given(values | st.dictionaries(keys, values, max_size=4))
def test_any_json_value_is_read_or_refused(document: object) -> None:
    read_or_refuse(document)


@settings(max_examples=300)
@given(st.data())
def test_an_answer_with_any_part_replaced_is_read_or_refused(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from([answer(), ROWS]))
    for _ in range(data.draw(st.integers(1, 3))):
        document = changed(document, data.draw(st.sampled_from(paths(document))), data.draw(values))
        if not paths(document):
            break
    read_or_refuse(document)
