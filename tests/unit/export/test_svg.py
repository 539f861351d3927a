"""The picture: well-formed, escaped, deterministic, bounded, and true to the schedule."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.unit.export.pipelines import COMBINED, WAN, greedy, one_forward_one_backward, pipeline, zb_h1

from crosspipe.export.svg import Caption, timeline_svg
from crosspipe.export.svg.numbers import ms, px, shorten, text
from crosspipe.export.svg.palette import FILLS, ink_on, shade
from crosspipe.export.svg.picture import LEFT, MOST_EXACT, RIGHT
from crosspipe.export.svg.scale import Scale, tick_label, ticks
from crosspipe.export.svg.shares import share_bands
from crosspipe.export.svg.windows import intervals
from crosspipe.problem.links import Lane, Window
from crosspipe.problem.operations import Kind
from crosspipe.schedule.orders import Orders, Schedule

if TYPE_CHECKING:
    from crosspipe.problem.problem import Problem

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = """<script>alert("x")</script>&'"""


def parsed(problem: Problem, schedule: Schedule, caption: Caption | None = None) -> ElementTree.Element:
    return ElementTree.fromstring(timeline_svg(problem, schedule, caption))  # noqa: S314 - our own text, no entities


def said(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def outlines(root: ElementTree.Element, fill: str) -> list[tuple[float, float]]:
    """Left and right of every block with a fill."""
    found = []
    for path in root.iter(f"{SVG}path"):
        if path.get("fill") == fill:
            for left, width in re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", path.get("d", "")):
                found.append((float(left), float(left) + float(width)))
    return found


def test_document_is_one_svg_image_with_name_and_description() -> None:
    problem = pipeline()
    root = parsed(problem, zb_h1(problem), Caption("Two sites", ("optimal · 460 ms",)))
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    named = [root.find(f"{SVG}{tag}") for tag in ("title", "desc")]
    assert root.get("aria-labelledby") == " ".join(str(one.get("id")) for one in named if one is not None)
    assert named[0] is not None
    assert named[0].text == "Two sites"
    assert {"Two sites", "optimal · 460 ms", "east", "west", "east/0", "west/1"} <= set(said(root))
    assert not {element.tag.removeprefix(SVG) for element in root.iter()} & {"script", "image", "foreignObject", "use"}


def test_names_of_users_are_escaped() -> None:
    sites = {HOSTILE: {"devices": 2}, "]]>\u2028": {"devices": 2}}
    problem = pipeline(
        sites=sites,
        links=[{"between": list(sites), "bandwidth_gbps": 1, "one_way_latency_ms": 1}],
        extra_operations=[{"name": "</text><b>", "duration_ms": 1500, "device": f"{HOSTILE}/0", "after": [0]}],
    )
    root = parsed(problem, zb_h1(problem), Caption(HOSTILE, (HOSTILE + "\x00",)))
    assert HOSTILE in said(root)
    assert "</text><b>" in said(root)
    assert HOSTILE + "\ufffd" in said(root)


def test_same_input_same_text() -> None:
    problem = pipeline(8, 4, placement={"traversal": "wave", "stages_per_device": 2})
    schedule = greedy(problem, cap=4)
    again = pipeline(8, 4, placement={"traversal": "wave", "stages_per_device": 2})
    assert timeline_svg(problem, schedule) == timeline_svg(again, greedy(again, cap=4))


@pytest.mark.parametrize("kind", [Kind.F, Kind.B, Kind.W, Kind.ACTIVATION, Kind.GRADIENT])
def test_blocks_stand_where_the_schedule_puts_them(kind: Kind) -> None:
    problem = pipeline()
    schedule = zb_h1(problem)
    rows = np.flatnonzero((problem.operations.kind == kind) & (problem.operations.resource >= 0))
    per_ns = (RIGHT - LEFT) / int(schedule.end_ns.max())
    expected = sorted(LEFT + per_ns * schedule.start_ns[rows])
    drawn = sorted(outlines(parsed(problem, schedule), FILLS[kind]))
    assert [left for left, _ in drawn] == pytest.approx(expected, abs=0.006)
    lengths = sorted(per_ns * (schedule.end_ns[rows] - schedule.start_ns[rows]))
    assert sorted(right - left for left, right in drawn) == pytest.approx(lengths, abs=0.62)


def test_every_wide_block_says_its_microbatch() -> None:
    problem = pipeline(microbatches=12)
    words = said(parsed(problem, zb_h1(problem)))
    assert words.count("11") == 3 * 4


def test_narrow_blocks_have_no_label() -> None:
    problem = pipeline(microbatches=300, work=COMBINED)
    assert len(problem.operations) < MOST_EXACT
    words = said(parsed(problem, one_forward_one_backward(problem)))
    assert "150" not in words


def test_memory_curve_and_limit_are_told_in_gigabytes() -> None:
    problem = pipeline(microbatches=20, sites={"a": {"devices": 4, "memory_gb": 6}}, links=[])
    words = said(parsed(problem, zb_h1(problem)))
    assert "4.5 / 6.0 GB" in words
    assert "memory limit" in words


def test_limit_far_above_the_curve_is_told_but_not_drawn() -> None:
    problem = pipeline(sites={"a": {"devices": 4, "memory_gb": 600}}, links=[])
    words = said(parsed(problem, zb_h1(problem)))
    assert "4.5 / 600.0 GB" in words
    assert "memory limit" not in words


def test_no_memory_no_memory_panel() -> None:
    bare = {"forward_ms": 10, "backward_ms": 20, "activation_mb": 0, "retained_mb": 0, "static_mb": 0}
    problem = pipeline(work=bare)
    assert "Memory" not in said(parsed(problem, greedy(problem)))


def test_closed_windows_are_hatched_within_the_picture() -> None:
    problem = pipeline(links=[WAN | {"closed_ms": [[5, 9]], "period_ms": 50, "slow_ms": [[20, 30, 10]]}])
    schedule = zb_h1(problem)
    root = parsed(problem, schedule)
    hatched = [
        one for one in root.iter(f"{SVG}rect") if str(one.get("fill")).endswith("-closed)") and one.get("rx") is None
    ]
    periods = -(-(int(schedule.end_ns.max()) - 5_000_000) // 50_000_000)
    assert len(hatched) == 2 * periods + 1  # two lanes, and the legend
    assert all(float(str(one.get("x"))) + float(str(one.get("width"))) <= RIGHT + 0.01 for one in hatched[1:])
    assert {"lane closed", "lane slower"} <= set(said(root))


def test_lanes_stand_between_the_sites_they_join() -> None:
    problem = pipeline()
    words = said(parsed(problem, zb_h1(problem)))
    assert words.index("east/1") < words.index("east-west/out") < words.index("east-west/back") < words.index("west/0")


def test_legend_names_only_what_is_drawn() -> None:
    combined = set(said(parsed(problem := pipeline(work=COMBINED), greedy(problem, cap=4))))
    assert {"F forward", "BW full backward", "idle", "activation message"} <= combined
    assert not combined & {"W weight gradient", "extra operation", "lane closed"}


def test_large_schedules_stay_small() -> None:
    sites = {f"dc{k}": {"devices": 16, "memory_gb": 100, "hop_bandwidth_gbps": 400} for k in range(3)}
    links = [{"between": ["dc0", "dc1"], "bandwidth_gbps": 100}, {"between": ["dc1", "dc2"], "bandwidth_gbps": 100}]
    problem = pipeline(48, 200, sites=sites, links=links)
    schedule = zb_h1(problem)
    written = timeline_svg(problem, schedule)
    assert len(problem.operations) > MOST_EXACT
    assert len(written.encode()) < 2_000_000
    words = said(ElementTree.fromstring(written))  # noqa: S314 - our own text, no entities
    assert "dc0 · 30 lanes inside the site not drawn" in words
    assert f"idle {100 * (1 - 200 * 30e6 / int(schedule.end_ns.max())):.1f} %" in words


def test_smallest_schedule() -> None:
    problem = pipeline(1, 1, COMBINED, sites={"a": {"devices": 1}}, links=[])
    assert "30 ms" in said(parsed(problem, greedy(problem)))


def test_recomputed_stage_is_drawn_with_its_amounts() -> None:
    option = {"activation_mb": 100, "recompute_ms": 7}
    problem = pipeline(
        work=COMBINED | {"recompute_option": option, "retained_mb": 0}, sites={"a": {"devices": 4}}, links=[]
    )
    plain = greedy(problem)
    chosen = replace(plain, orders=Orders(plain.orders.sequences, frozenset(range(4))))
    assert "1.3 GB" in said(parsed(problem, chosen))
    assert "1.3 GB" not in said(parsed(problem, plain))


def test_shares_of_a_column_are_exact() -> None:
    schedule = Schedule(np.array([0, 30]), np.array([20, 60]), Orders(()))
    drawn = share_bands(schedule, np.array([0, 1]), Scale(0, 100, 100), ["#a", "#b"], 50, (0, 10))
    # column 1: 20 of 50 by a and 20 by b; column 2: 10 of 50 by b
    assert drawn == [
        '<path fill="#b" d="M0 10V2H50V8H100V10z"/>',
        '<path fill="#a" d="M0 10V6H50V10H100V10z"/>',
    ]


def test_windows_are_unrolled_up_to_the_horizon() -> None:
    lane = Lane("x", "x", None, 10, (Window(2, 4, 0, 10), Window(5, 7, 5, 10), Window(90, None, 0)))
    assert intervals(lane, 25, closed=True) == [(2, 4), (12, 14), (22, 24)]
    assert intervals(lane, 23, closed=True) == [(2, 4), (12, 14), (22, 23)]
    assert intervals(lane, 25, closed=False) == [(5, 7), (15, 17)]
    assert intervals(lane, 100, closed=True)[-1] == (92, 94)
    assert (90, 100) in intervals(lane, 100, closed=True)
    assert intervals(Lane("x", "x", None, 1, (Window(0, 1, 0, 2),)), 10**6, closed=True) == [(0, 10**6)]


@pytest.mark.parametrize(
    ("horizon_ns", "expected"),
    [(10, [0, 2, 4, 6, 8, 10]), (9, list(range(10))), (1_000, list(range(0, 1001, 200))), (1, [0, 1])],
)
def test_ticks_are_round(horizon_ns: int, expected: list[int]) -> None:
    assert ticks(horizon_ns) == expected


def test_numbers_are_short() -> None:
    assert [px(value) for value in (0.0, -0.001, 12.3456, 100.0)] == ["0", "0", "12.35", "100"]
    assert [ms(value) for value in (1_382_700_000, 12_340_000, 1_234_500, 0)] == ["1,382.7", "12.34", "1.234", "0"]
    assert tick_label(1_500_000_000, 500_000_000) == "1,500"
    assert tick_label(250_000, 50_000) == "0.25"
    assert shorten("abcdefghij", 30, 10) == "ab…ij"
    assert text("a<b\x07") == "a&lt;b\ufffd"


def test_text_on_every_fill_reads_well() -> None:
    def luminance(colour: str) -> float:
        channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for kind in (Kind.F, Kind.B, Kind.W, Kind.BW, Kind.EXTRA):
        for held in range(4):
            fill = shade(kind, held, 4)
            dark, light = sorted((luminance(fill), luminance(ink_on(fill))))
            assert (light + 0.05) / (dark + 0.05) >= (4.5 if held == 0 else 4.0)
