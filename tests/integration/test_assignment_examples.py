"""Examples whose cut is open: valid schedules with sound bounds, never worse than the cut of any rule."""

from __future__ import annotations

import pytest
from bench.suites.assignment import LAYERS, NAMES, example, scale

from crosspipe import check, solve
from crosspipe.spec.load import parse_spec

EVERY = {**{name: example(name) for name in NAMES}, "scale": scale()}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_an_open_cut_is_never_worse_than_a_rule(name: str) -> None:
    spec = parse_spec(EVERY[name])
    answer = solve(spec, time_limit_s=10)
    assert answer.cut is not None
    value, bound = answer.objective.value_ms, answer.objective.lower_bound_ms
    assert value is not None
    assert bound is not None
    assert bound <= value
    assert len(answer.cut.rules) == 4
    for rule in answer.cut.rules:
        assert rule.value_ms is None or value <= rule.value_ms, rule.rule
        assert rule.value_ms is not None or rule.reason, rule.rule
    assert check(spec, answer.model_dump()).ok


@pytest.mark.slow
def test_the_rules_are_beaten_where_devices_are_unlike() -> None:
    answer = solve(parse_spec(EVERY["llama-3-70b-h100-a100-cut"]), time_limit_s=10)
    assert answer.cut is not None
    torchtitan = next(rule for rule in answer.cut.rules if rule.rule.startswith("torchtitan"))
    assert torchtitan.gain is not None
    assert torchtitan.gain > 0.4


def test_the_large_spec_has_two_speeds_two_memories_and_unequal_links() -> None:
    spec = scale()
    sites = spec["sites"].values()
    assert sum(site["devices"] for site in sites) == 16
    assert {site.get("time_factor", 1) for site in sites} == {1, 1.6}
    assert {site["memory_gb"] for site in sites} == {80, 64}
    assert sum(layer.get("repeat", 1) for layer in spec["model"]["layers"]) == LAYERS + 2
    assert len({(link["one_way_latency_ms"], link["bandwidth_gbps"]) for link in spec["links"]}) == 6
    assert not any("memory_gb" in site for site in scale(limited=False)["sites"].values())
