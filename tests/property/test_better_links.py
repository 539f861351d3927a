"""A better link never makes the optimum longer: proved on random tiny specs before and after the change.

Each change lets every schedule stand: its operations keep their starts, or messages move to another lane at the same
times, and none ends or arrives later.
"""

from __future__ import annotations

import copy
import random
from math import inf
from typing import TYPE_CHECKING, Any

import pytest
from tests.property.tiny_specs import tiny_spec
from tests.solving import assert_sound, solve_here

if TYPE_CHECKING:
    from collections.abc import Callable

Spec = dict[str, Any]

FEW, MANY = 4, 40
SEEDS = [seed if seed < FEW else pytest.param(seed, marks=pytest.mark.slow) for seed in range(MANY)]


def optimum_ms(monkeypatch: pytest.MonkeyPatch, spec: Spec, seed: int) -> float:
    """Proved optimum, of the span in every third spec; without end where there is no schedule."""
    answer = solve_here(monkeypatch, spec, time_limit_s=60, objective="span" if seed % 3 == 2 else "makespan")
    assert answer.status in ("optimal", "infeasible")
    assert_sound(spec, answer)
    return inf if answer.objective.value_ms is None else answer.objective.value_ms


def _drawn(seed: int, devices: int = 2, *, windows: bool = True) -> Spec:
    spec = tiny_spec(seed, devices=devices, most_microbatches=3, chunks=devices == 2 and seed % 2 == 0, windows=windows)
    for stage in spec["model"]["stages"]:
        stage["boundary_mb"], stage["gradient_mb"] = max(stage["boundary_mb"], 1), max(stage["gradient_mb"], 1)
    return spec


def with_windows(spec: Spec, seed: int) -> Spec:
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    for link in spec["links"]:
        for key in ("closed_ms", "period_ms"):
            link.pop(key, None)
        kind = rng.choice(["once", "repeating", "slow", "clock"])
        if kind == "slow" and len(spec["model"]["stages"]) > 2:
            kind = "once"  # the model takes slower lanes at their full rate, which leaves gaps on longer pipelines
        start = rng.randint(0, 8)
        if kind == "slow":
            link["slow_ms"] = [[start, start + rng.randint(4, 12), 2]]
        else:
            link["closed_ms"] = [[start, start + rng.randint(2, 8)]]
        if kind in ("repeating", "clock"):
            # Open for longer than the longest message, 5 MB at 8 Gb/s.
            link["period_ms"] = link["closed_ms"][0][1] + 6
        if kind == "clock":
            link["anchor"] = "clock"
            # Reserved times are no whole ms, which makes proofs long.
            spec["training"]["microbatches"] = 2
    return spec


def as_it_is(_link: Spec) -> None:
    """Leave a link alone."""


def wider(link: Spec) -> None:
    link["bandwidth_gbps"] *= 4


def farther(link: Spec) -> None:
    link["one_way_latency_ms"] += 2


def shorter(link: Spec) -> None:
    link["one_way_latency_ms"] /= 2


def opened_a_little(link: Spec) -> None:
    for key in ("closed_ms", "slow_ms"):
        for window in link.get(key, ()):
            window[1] -= 1


def opened(link: Spec) -> None:
    for key in ("closed_ms", "slow_ms", "period_ms", "anchor"):
        link.pop(key, None)


def full(link: Spec) -> None:
    link["duplex"] = "full"


def half(link: Spec) -> None:
    link["duplex"] = "half"


CHANGES: dict[str, tuple[Callable[[Spec], None], Callable[[Spec], None]]] = {
    "wider": (as_it_is, wider),
    "shorter": (farther, shorter),
    "opened a little": (as_it_is, opened_a_little),
    "opened": (as_it_is, opened),
    "full": (half, full),
}
"""What is done to every link first, and the change for the better."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("change", CHANGES)
def test_no_optimum_is_longer(change: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _drawn(seed)
    if change.startswith("opened") or seed % 4 == 3:
        before = with_windows(before, seed)
    first, then = CHANGES[change]
    for link in before["links"]:
        first(link)
    after = copy.deepcopy(before)
    for link in after["links"]:
        then(link)
    assert after != before
    assert optimum_ms(monkeypatch, after, seed) <= optimum_ms(monkeypatch, before, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_links_of_their_own_are_never_slower_than_one_that_is_shared(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = _drawn(seed, devices=3, windows=False)
    shared = copy.deepcopy(spec)
    for link in shared["links"]:
        link |= {"group": "pipe", "duplex": spec["links"][0]["duplex"]}
    assert optimum_ms(monkeypatch, spec | {"links": _like(spec)}, seed) <= optimum_ms(monkeypatch, shared, seed)


def _like(spec: Spec) -> list[Spec]:
    """The links of a spec, all as wide both ways as the first."""
    return [link | {"duplex": spec["links"][0]["duplex"]} for link in spec["links"]]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_links_are_never_faster_than_one_as_long_and_as_narrow_as_both(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = _drawn(seed, windows=False)
    (link,) = direct["links"]
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    first_ms, widths = rng.randint(0, link["one_way_latency_ms"]), [8, rng.choice([8, 16])]
    rng.shuffle(widths)
    ends = [("s0", "between", first_ms), ("between", "s1", link["one_way_latency_ms"] - first_ms)]
    links = [
        {"between": [a, b], "one_way_latency_ms": latency_ms, "bandwidth_gbps": width, "duplex": link["duplex"]}
        for (a, b, latency_ms), width in zip(ends, widths, strict=True)
    ]
    sites = direct["sites"] | {"between": {"devices": 1}}
    routed = direct | {"sites": sites, "links": links, "parallel": direct["parallel"] | {"pipeline": 3}}
    assert optimum_ms(monkeypatch, direct, seed) <= optimum_ms(monkeypatch, routed, seed)
