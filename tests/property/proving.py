"""Random problems of every feature with their optimum proved by CP-SAT, told no bound and no schedule."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from tests.golden.compiled import compile_all
from tests.property.random_specs import random_spec

from crosspipe.model.solve import ModelLimits, improve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosspipe.problem.problem import Objective, Problem
    from crosspipe.schedule.orders import Orders

Spec = dict[str, Any]

MOST_MICROBATCHES = 5
MOST_CHOICES = 2
STEP = 1000
"""From a seed whose problem is too large to the next one tried."""


@dataclass(frozen=True)
class Proof:
    """The optimum over all recompute choices; the problem with the choice taken, and orders that reach it."""

    value_ns: int
    problem: Problem
    orders: Orders


def spec_of_every_feature(seed: int) -> Spec:
    """A random spec; some of one device, of two replicas, with a deadline for all or one stage, a link left out."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    if seed % 8 == 5:
        spec = random_spec(seed, devices=rng.choice([1, 1, 2]), replicas=1)
    elif seed % 8 == 7:
        spec = random_spec(seed, devices=rng.choice([1, 2, 2]), replicas=2)
        spec["parallel"]["replica_messages"] = "separate"
    else:
        spec = random_spec(seed)
    chance = rng.random()
    if chance < 0.2:
        limits = spec.setdefault("limits", {})
        if chance < 0.1:
            limits["deadline_ms"] = rng.randint(30, 90)
        else:
            limits["stage_deadlines_ms"] = {str(rng.randrange(len(spec["model"]["stages"]))): rng.randint(20, 70)}
    if len(spec["sites"]) > 2 and rng.random() < 0.4:
        # Every two sites were joined, so there is still a way by a third.
        del spec["links"][rng.randrange(len(spec["links"]))]
    return spec


def small(seed: int, most_operations: int) -> tuple[Spec, Problem]:
    """The first spec from a seed on that is small enough with two microbatches or more, in one of its placements."""
    while True:
        spec = spec_of_every_feature(seed)
        for fewer in _with_fewer_microbatches(spec):
            problems = compile_all(fewer)
            problem = problems[seed % len(problems)]
            if len(problem.operations) <= most_operations and len(problem.choices) <= MOST_CHOICES:
                return fewer, problem
        seed += STEP


def _with_fewer_microbatches(spec: Spec) -> Iterator[Spec]:
    given = spec["training"]["microbatches"]
    count = given if isinstance(given, int) else len(given["multipliers"])
    for most in range(min(count, MOST_MICROBATCHES), 1, -1):
        fewer = most if isinstance(given, int) else given | {"multipliers": given["multipliers"][:most]}
        yield spec | {"training": spec["training"] | {"microbatches": fewer}}


def proved(problem: Problem, objective: Objective, time_s: float) -> Proof | str | None:
    """Prove the optimum; None if there is no schedule, `unknown` if it takes longer."""
    stages = [] if problem.recomputed else [choice.stage for choice in problem.choices]
    best: Proof | None = None
    for taken in chain.from_iterable(combinations(stages, size) for size in range(len(stages) + 1)):
        decided = problem.recompute(frozenset(taken))
        result = improve(decided, objective, None, 0, ModelLimits(time_s=time_s, workers=1))
        if result.status == "infeasible":
            continue
        if result.status != "optimal" or result.orders is None or result.bound_ns is None:
            return "unknown"
        if best is None or result.bound_ns < best.value_ns:
            best = Proof(result.bound_ns, decided, result.orders)
    return best


def features(spec: Spec, problem: Problem) -> set[str]:
    """What of all that a spec can say this one says."""
    stages, links = spec["model"]["stages"], [link for link in spec["links"] if "bandwidth_gbps" in link]
    limits = spec.get("limits", {})
    used = {lane.channel for k, lane in enumerate(problem.lanes) if len(problem.by_resource[len(problem.devices) + k])}
    microbatches = spec["training"]["microbatches"]
    says = {
        problem.traversal: True,
        "unlike stages": any(stage != stages[0] for stage in stages),
        "frozen": any(stage.get("frozen") for stage in stages),
        "combined backward": any("backward_ms" in stage for stage in stages),
        "memory until W": any(stage.get("retained_mb") for stage in stages),
        "backward that takes memory": any(stage.get("backward_extra_mb") for stage in stages),
        "recompute choice": bool(problem.choices),
        "recomputed": any("recompute_ms" in stage for stage in stages),
        "unlike microbatches": not problem.identical,
        "fixed order": isinstance(microbatches, dict) and microbatches["order"] == "fixed",
        "replicas": problem.replicas > 1,
        "lanes": bool(used),
        "route over several links": any(len(hop.legs) > 1 for hop in problem.hops),
        "half duplex": any(link["duplex"] == "half" for link in links),
        "lane shared by replicas": problem.replicas > 1 and any(not link["per_replica"] for link in links),
        "closed windows": any(window.rate_bps == 0 for lane in problem.lanes for window in lane.windows),
        "slow windows": any(window.rate_bps > 0 for lane in problem.lanes for window in lane.windows),
        "extra operations": bool(problem.extras),
        "in-flight cap": "in_flight" in limits,
        "deadline": problem.due_ns is not None,
        "memory limit": any(pool.capacity is not None for pool in problem.pools),
    }
    return {name for name, yes in says.items() if yes}


EVERY_FEATURE = {
    *("unidirectional", "loop", "wave", "map", "unlike stages", "frozen", "combined backward", "memory until W"),
    *("backward that takes memory", "recompute choice", "recomputed", "unlike microbatches", "fixed order", "replicas"),
    *("lanes", "half duplex", "lane shared by replicas", "closed windows", "slow windows", "extra operations"),
    *("in-flight cap", "deadline", "memory limit", "route over several links"),
}
