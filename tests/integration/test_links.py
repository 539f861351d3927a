"""Every way to join places: the lanes that a spec compiles to, and an optimum worked out by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, problem, spec_data
from tests.solving import assert_sound, solve_here

from crosspipe.bounds.obstacles import obstacles
from crosspipe.checker.check import check as judge
from crosspipe.checker.document import placed_from_document
from crosspipe.checker.report import ViolationKind
from crosspipe.errors import ScheduleFormatError
from crosspipe.export.chrome_trace import chrome_trace
from crosspipe.export.svg.picture import timeline_svg
from crosspipe.families.registry import run_families
from crosspipe.problem.problem import Objective
from crosspipe.schedule.timed import timed

if TYPE_CHECKING:
    from collections.abc import Sequence

SENDING = STAGE | {"boundary_mb": 1}
FORWARD = {"forward_ms": 1, "activation_mb": 1, "frozen": True}
COMBINED = {"forward_ms": 1, "backward_ms": 1, "activation_mb": 1, "boundary_mb": 2}
ONE_EACH = {"a": {"devices": 1}, "b": {"devices": 1}}
ROW = {"a": {"devices": 1}, "b": {"devices": 1}, "c": {"devices": 1}}
TWO_EACH = {"a": {"devices": 2}, "b": {"devices": 2}}


@dataclass(frozen=True)
class Case:
    """A spec, the lanes in it, and its least makespan in ms."""

    name: str
    stages: Sequence[dict[str, Any]]
    microbatches: int
    sites: dict[str, Any]
    links: Sequence[dict[str, Any]]
    lanes: Sequence[str]
    optimum_ms: int
    placement: Sequence[str] | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def spec(self) -> dict[str, Any]:
        placed = {} if self.placement is None else {"placement": {"map": list(self.placement)}}
        given = {"sites": self.sites, "links": list(self.links)} | placed | self.more
        return spec_data(list(self.stages), self.microbatches, **given)


CROSSWISE = [
    {"between": ["a/0", "b/0"], "transfer_ms": 4},
    {"between": ["b/0", "a/1"]},
    {"between": ["a/1", "b/1"], "transfer_ms": 4},
]

CASES = (
    # F 0-1, sent 1-4 (3 ms by the table, 2 ms by the bandwidth), F 4-5, B 5-6, back 6-9, B 9-10, W 10-11.
    Case(
        "a measured table beside a bandwidth",
        [STAGE | {"boundary_mb": 2}, STAGE],
        1,
        ONE_EACH,
        [{"between": ["a", "b"], "bandwidth_gbps": 8, "transfer_table": [[1, 2], [3, 4]]}],
        ["a-b/out", "a-b/back"],
        11,
    ),
    # F 0-1, sent 1-2, there at 3, F 3-4, B 4-5, back 5-9, there at 13, B 13-14, W 14-15.
    Case(
        "two directions that differ",
        [SENDING, STAGE],
        1,
        ONE_EACH,
        [
            {"from": "a", "to": "b", "bandwidth_gbps": 8, "one_way_latency_ms": 1},
            {"from": "b", "to": "a", "bandwidth_gbps": 2, "one_way_latency_ms": 4},
        ],
        ["a->b/out", "b->a/out"],
        15,
    ),
    # F 0-1, inside the site until 2, F 2-3, sent 3-4, F 4-5, B 5-6, back 6-7, B 7-8, inside until 9, B 9-10, W 10-11.
    Case(
        "a link between devices goes before that of their sites, a hop inside the site queues nowhere",
        [SENDING] * 3,
        1,
        {"a": {"devices": 2, "hop_latency_ms": 1}, "b": {"devices": 1}},
        [
            {"between": ["a", "b"], "bandwidth_gbps": 8, "one_way_latency_ms": 50},
            {"between": ["a/1", "b/0"], "bandwidth_gbps": 8},
        ],
        ["a/1-b/0/out", "a/1-b/0/back"],
        11,
    ),
    # F 0-1, sent 1-2, there at 4, F 4-5, B 5-6, back 6-7, there at 9, B 9-10, W 10-11.
    Case(
        "a hop inside a site with a bandwidth",
        [SENDING, STAGE],
        1,
        {"a": {"devices": 2, "hop_latency_ms": 2, "hop_bandwidth_gbps": 8}},
        [],
        ["a/0->a/1", "a/1->a/0"],
        11,
    ),
    # The lane is idle until 1 and carries four messages of 4 ms, after the last of which comes an F: 1 + 16 + 1.
    Case(
        "one lane for two stage pairs",
        [FORWARD | {"boundary_mb": 1}] * 4,
        2,
        TWO_EACH,
        [CROSSWISE[0] | {"group": "pipe"}, CROSSWISE[1], CROSSWISE[2] | {"group": "pipe"}],
        ["pipe/out"],
        18,
        ["a/0", "b/0", "a/1", "b/1"],
    ),
    # Sent 1-5 and 5-9, F 9-10, F 10-11; the second lane carries from 7 to 11 and 11 to 15, F 15-16.
    Case(
        "a lane for each of two stage pairs",
        [FORWARD | {"boundary_mb": 1}] * 4,
        2,
        TWO_EACH,
        CROSSWISE,
        ["a/0-b/0/out", "a/1-b/1/out"],
        16,
        ["a/0", "b/0", "a/1", "b/1"],
    ),
    # The one lane is idle until 1 and carries six messages of 2 ms, after the last of which comes a BW: 1 + 12 + 1.
    Case(
        "half duplex",
        [COMBINED] * 2,
        3,
        ONE_EACH,
        [{"between": ["a", "b"], "bandwidth_gbps": 8, "duplex": "half"}],
        ["a-b"],
        14,
    ),
    # The third message is sent from 5 to 7, F 7-8, BW 8-9, back 9-11, BW 11-12.
    Case(
        "full duplex",
        [COMBINED] * 2,
        3,
        ONE_EACH,
        [{"between": ["a", "b"], "bandwidth_gbps": 8}],
        ["a-b/out", "a-b/back"],
        12,
    ),
    # Second microbatch: F 1-2, over a-b at the latest 3-4, over b-c 6-8 behind the first (4-6), there at 11, F 11-12,
    # B 12-13, back over b-c 13-15, there at 18, over a-b 18-19, there at 21, B 21-22, W 22-23.
    Case(
        "a route over two links",
        [SENDING, STAGE],
        2,
        ROW,
        [
            {"between": ["a", "b"], "bandwidth_gbps": 8, "one_way_latency_ms": 2},
            {"between": ["b", "c"], "bandwidth_gbps": 4, "one_way_latency_ms": 3},
        ],
        ["a-b/out", "b-c/out", "b-c/back", "a-b/back"],
        23,
        ["a/0", "c/0"],
    ),
    # The one lane of the group carries both legs, 1 ms each: F 0-1, 1-2, 2-3, F 3-4, B 4-5, 5-6, 6-7, B 7-8, W 8-9.
    Case(
        "a route over two links that share a half-duplex channel",
        [SENDING, STAGE],
        1,
        ROW,
        [
            {"between": ["a", "b"], "bandwidth_gbps": 8, "group": "ring", "duplex": "half"},
            {"between": ["b", "c"], "bandwidth_gbps": 8, "group": "ring", "duplex": "half"},
        ],
        ["ring"],
        9,
        ["a/0", "c/0"],
    ),
    # Over a-b 1-2, there at 2, but b-c opens at 5: over it 5-6, F 6-7, B 7-8, back 8-9 and 9-10, B 10-11, W 11-12.
    Case(
        "a window on the second link of a route",
        [SENDING, STAGE],
        1,
        ROW,
        [
            {"between": ["a", "b"], "bandwidth_gbps": 8},
            {"between": ["b", "c"], "bandwidth_gbps": 8, "closed_ms": [[0, 5]]},
        ],
        ["a-b/out", "b-c/out", "b-c/back", "a-b/back"],
        12,
        ["a/0", "c/0"],
    ),
)
ROUTED = next(case for case in CASES if case.name == "a route over two links")
BY_NAME = [pytest.param(case, id=case.name) for case in CASES]


@pytest.mark.parametrize("case", BY_NAME)
def test_the_lanes_are_those_of_the_links(case: Case) -> None:
    compiled = problem(**_compiled(case))
    assert [lane.name for lane in compiled.lanes] == case.lanes


@pytest.mark.parametrize("case", BY_NAME)
def test_the_optimum_is_what_was_worked_out(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = solve_here(monkeypatch, case.spec(), time_limit_s=30)
    assert (answer.status, answer.makespan_ms) == ("optimal", case.optimum_ms)
    assert_sound(case.spec(), answer)


@pytest.mark.parametrize("case", BY_NAME)
def test_every_known_schedule_is_accepted_and_no_better(case: Case) -> None:
    compiled = problem(**_compiled(case))
    for family in run_families(compiled, Objective.MAKESPAN):
        assert family.value_ns is None or family.value_ns >= case.optimum_ms * 10**6


def test_an_answer_names_the_links_of_a_route_and_what_each_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = solve_here(monkeypatch, ROUTED.spec(), time_limit_s=30)
    there, back = answer.hops
    assert (there.link, there.transfer_ms, there.latency_ms) == ("a-b, b-c", 3, 5)
    assert there.legs is not None
    assert [(leg.link, leg.transfer_ms, leg.latency_ms) for leg in there.legs] == [("a-b", 1, 2), ("b-c", 2, 3)]
    assert back.link == "b-c, a-b"
    legs = {lane.lane: lane.operations.leg for lane in answer.transfers if lane.operations is not None}
    assert legs == {"a-b/out": [0, 0], "b-c/out": [1, 1], "b-c/back": [0, 0], "a-b/back": [1, 1]}
    arrivals = {lane.lane: lane.operations.arrival_ms for lane in answer.transfers if lane.operations is not None}
    assert arrivals["b-c/out"] == [9, 11]
    assert "routes: a/0 to c/0: over a-b, b-c, one after the other" in answer.notes


ROWS: list[list[Any]] = [
    ["F", 0, 0, 0, 0],
    ["activation", 0, 0, 0, 1, 2],
    ["activation", 0, 0, 0, 4, None, 1],
    ["F", 1, 0, 0, 9],
    ["B", 1, 0, 0, 10],
    ["gradient", 0, 0, 0, 11, 13, 0],
    ["gradient", 0, 0, 0, 16, 17, 1],
    ["B", 0, 0, 0, 19],
    ["W", 0, 0, 0, 20],
    ["W", 1, 0, 0, 11],
]


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({}, set()),
        ({2: ["activation", 0, 0, 0, 3, None, 1]}, {ViolationKind.DEPENDENCY}),
        ({2: ["activation", 0, 0, 0, 5, 7, 1]}, {ViolationKind.DEPENDENCY}),
        ({2: ["activation", 0, 0, 0, 4, 5, 1]}, {ViolationKind.DURATION}),
        ({2: ["activation", 0, 0, 0, 4, 6]}, {ViolationKind.DUPLICATE, ViolationKind.MISSING}),
        ({2: ["activation", 0, 0, 0, 4, 6, 2]}, {ViolationKind.UNKNOWN, ViolationKind.MISSING}),
        ({2: ["activation", 0, 0, 0, 4, 6, -1]}, {ViolationKind.UNKNOWN, ViolationKind.MISSING}),
    ],
)
def test_a_document_gives_each_leg_and_the_checker_judges_it(
    change: dict[int, list[Any]], kinds: set[ViolationKind]
) -> None:
    compiled = problem(**_compiled(ROUTED) | {"microbatches": 1})
    rows = [change.get(number, row) for number, row in enumerate(ROWS)]
    placed, recomputed = placed_from_document(compiled, {"operations": rows})
    report = judge(compiled, placed, recomputed)
    assert {violation.kind for violation in report.violations} == kinds
    assert report.makespan_ns == (None if ViolationKind.MISSING in kinds else 21 * 10**6)


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        (["activation", 0, 0, 0, 4, None, "1"], "/operations/0/6"),
        (["activation", 0, 0, 0, 4, None, 1, 1], "/operations/0"),
        (["F", 0, 0, 0, 0, None, 0], "/operations/0"),
    ],
)
def test_a_leg_that_cannot_be_read(row: list[Any], pointer: str) -> None:
    with pytest.raises(ScheduleFormatError) as refused:
        placed_from_document(problem(**_compiled(ROUTED)), {"operations": [row]})
    assert [fault.pointer for fault in refused.value.faults] == [pointer]


def test_a_leg_on_the_lane_of_another_is_misplaced(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = problem(**_compiled(ROUTED))
    document = solve_here(monkeypatch, ROUTED.spec(), time_limit_s=30).model_dump(mode="json")
    first, second = document["transfers"][:2]
    first["operations"], second["operations"] = second["operations"], first["operations"]
    placed, recomputed = placed_from_document(compiled, document)
    kinds = {violation.kind for violation in judge(compiled, placed, recomputed).violations}
    assert kinds == {ViolationKind.WRONG_RESOURCE}


def test_a_trace_and_a_picture_tell_the_legs_apart() -> None:
    compiled = problem(**_compiled(ROUTED))
    greedy = next(row for row in run_families(compiled, Objective.MAKESPAN) if row.orders is not None)
    assert greedy.orders is not None
    schedule = timed(compiled, greedy.orders, Objective.MAKESPAN)
    text = chrome_trace(compiled, schedule)
    assert text.count("activation over boundary 0, leg 1, microbatch") == 2
    assert text.count("activation over boundary 0, microbatch") == 2
    # A thin line for each message on each link: two microbatches on each of four lanes.
    in_flight = re.findall(
        r'd="([^"]*)" stroke="[^"]*" stroke-opacity=".5" stroke-width="1.2"', timeline_svg(compiled, schedule)
    )
    assert [path.count("M") for path in in_flight] == [2] * 4


def test_what_no_way_joins_is_told_with_the_link_that_would() -> None:
    links = [{"between": ["a", "b"], "one_way_latency_ms": 1}, {"from": "c", "to": "b", "one_way_latency_ms": 1}]
    compiled = problem(2, 1, sites=ROW, links=links, placement={"map": ["a/0", "c/0"]})
    (obstacle,) = obstacles(compiled)
    assert obstacle.where == "a/0 to c/0"
    assert "no link or chain of links leads from a/0 to c/0" in obstacle.message
    assert "a link between sites a and c, or between the two devices, would join them" in obstacle.message


def _compiled(case: Case) -> dict[str, Any]:
    """What `problem` takes: its spec in the expanded form."""
    spec = case.spec()
    training, model = spec.pop("training"), spec.pop("model")
    return {"stages": model["stages"], "microbatches": training["microbatches"]} | spec
