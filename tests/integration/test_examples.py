"""Every example solves and passes the checker; those with published numbers give them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.solving import assert_sound

from crosspipe.answer.solve import solve
from crosspipe.spec.load import load_spec

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.yaml"))


def text_of(name: str) -> str:
    return (EXAMPLES / name).read_text(encoding="utf-8")


def test_the_examples_are_there() -> None:
    assert {
        *(f"{where}-1.5b-{memory}gb.yaml" for where in ("one-site", "two-sites") for memory in (32, 40, 48)),
        "crosspipe-70b-two-sites.yaml",
        "crosspipe-70b-four-sites.yaml",
        "llama-3-70b-two-sites.yaml",
        "unlike-stages.yaml",
    } <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_an_example_is_constructed_and_passes_the_checker(name: str, objective: str) -> None:
    spec = load_spec(EXAMPLES / name)
    answer = solve(spec, time_limit_s=0, objective=objective)
    assert answer.status in ("feasible", "optimal")
    assert_sound(spec, answer)
    assert answer.warnings == [], "an example is no trap"


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_what_it_is(name: str) -> None:
    assert text_of(name).startswith("# ")
    assert load_spec(EXAMPLES / name).name or name.startswith(("llama", "deepseek"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_searched_and_passes_the_checker(name: str) -> None:
    spec = load_spec(EXAMPLES / name)
    first = solve(spec, time_limit_s=0)
    answer = solve(spec, time_limit_s=5)
    assert_sound(spec, answer)
    assert (answer.objective.value_ms or 0) <= (first.objective.value_ms or 0)


@pytest.mark.parametrize("name", ["crosspipe-70b-two-sites.yaml", "crosspipe-70b-four-sites.yaml"])
def test_without_delay_the_70b_setting_gives_the_papers_figures(name: str) -> None:
    """CrossPipe (arXiv 2507.00217): 1F1B .151 and ZB-H1 .133 s a microbatch where communication is free."""
    answer = solve(without_delay(name), time_limit_s=0)
    values = {row.name: row.value_ms for row in answer.families}
    assert values["1F1B"] == 2415
    assert values["ZB-H1"] == 16 * 133
    assert round(2415 / 16 / 1000, 3) == 0.151
    assert answer.objective.value_ms is not None
    assert answer.objective.value_ms <= 16 * 133


def without_delay(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load(text_of(name))
    for link in spec["links"]:
        link["one_way_latency_ms"] = 0
        del link["bandwidth_gbps"]
    return spec


def test_the_1_5b_profile_gives_the_published_figures() -> None:
    """Combined 1F1B and ZB-H1 on two sites, by their closed orders; and the bounds proved for each memory."""
    spec = load_spec(EXAMPLES / "two-sites-1.5b-32gb.yaml")
    values = {row.name: row.value_ms for row in solve(spec, time_limit_s=0).families}
    assert round(values["ZB-H1"] or 0, 1) == 1609.5
    assert values["GPipe"] is None
    for name, best, proved in (
        ("one-site-1.5b-32gb.yaml", 1310.4, True),
        ("one-site-1.5b-40gb.yaml", 1236.5, False),
        ("two-sites-1.5b-32gb.yaml", 1381.9, False),
        ("two-sites-1.5b-40gb.yaml", 1284.6, False),
        ("two-sites-1.5b-48gb.yaml", 1253.2, False),
    ):
        objective = solve(load_spec(EXAMPLES / name), time_limit_s=0).objective
        assert objective.value_ms is not None
        assert objective.lower_bound_ms is not None
        assert round(objective.lower_bound_ms, 1) <= best <= round(objective.value_ms, 1)
        if proved:
            assert round(objective.value_ms, 1) == best


def test_the_1_5b_profile_needs_32_gb_for_1f1b() -> None:
    spec = yaml.safe_load(text_of("two-sites-1.5b-32gb.yaml"))
    fits = {row.name: row.value_ms for row in solve(spec, time_limit_s=0).families}
    assert fits["1F1B"] is not None
    for site in spec["sites"].values():
        site["memory_gb"] = 31.9
    (row,) = [row for row in solve(spec, time_limit_s=0).families if row.name == "1F1B"]
    assert not row.fits
    assert row.reason == "needs 8 activations (31922 MB) on east/0, has 31900 MB"
