"""Links that carry more than messages: what count states, dives, targets and moves say agrees with the proved optimum.

Reductions in like pieces and gathers on lanes, one behind the other some of them, with windows and deadlines as drawn.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.golden.compiled import compile_all
from tests.property.proving import Proof, Spec, proved, spec_of_every_feature
from tests.property.test_certificates import count_states
from tests.unit.families.judged import accepted
from tests.unit.lattice.standing import least_standing

from crosspipe.bounds.obstacles import obstacles
from crosspipe.certificate.verify import verify
from crosspipe.errors import DeadlockError
from crosspipe.families.greedy import greedy
from crosspipe.families.settings import Settings
from crosspipe.lattice.dive import Diver, Rule
from crosspipe.lattice.fixpoint import Tables
from crosspipe.lattice.leaf import orders_of
from crosspipe.lattice.machines import lattice_of
from crosspipe.lattice.starts import start_windows
from crosspipe.model.result import ModelLimits
from crosspipe.model.target import Targets
from crosspipe.problem.operations import Precedences
from crosspipe.problem.problem import Objective, Problem
from crosspipe.problem.step import step_ns
from crosspipe.schedule.measure import fits, makespan_ns
from crosspipe.schedule.timed import timed
from crosspipe.search.neighbourhoods import WindowMoves
from crosspipe.search.shared import Shared

FEW, MANY = 8, 240
MOST_OPERATIONS, MOST_STATES = 46, 40_000
MOST_DRAWS = 200
PROOF_S = 2.0
LIMITS = ModelLimits(time_s=20.0)
PLACES = [place if place < FEW else pytest.param(place, marks=pytest.mark.slow) for place in range(MANY)]


def _busy(seed: int) -> Spec | None:
    """A small spec whose first link with a bandwidth carries extra operations, None if it has no such link."""
    rng = random.Random(seed)  # noqa: S311  # which specs are tried, not a secret
    spec = spec_of_every_feature(seed)
    links = [link for link in spec["links"] if "bandwidth_gbps" in link]
    if not links:
        return None
    given = spec["training"]["microbatches"]
    spec["training"]["microbatches"] = min(given, 3) if isinstance(given, int) else 2
    spec["parallel"]["data"] = 1
    stages = spec["model"]["stages"]
    for stage in stages:
        stage.pop("recompute_option", None)
    trained = [number for number, stage in enumerate(stages) if not stage.get("frozen")]
    a, b = links[0]["between"]
    extras = []
    for name in range(rng.randint(1, 2)):
        lane = {"lane": rng.choice([f"{a}->{b}", f"{b}->{a}"]), "size_mb": rng.randint(1, 4)}
        side = {"after": [rng.choice(trained)]} if rng.random() < 0.7 else {"before": [rng.randrange(len(stages))]}
        extras += [{"name": f"{name}.{piece}"} | lane | side for piece in range(rng.randint(1, 3))]
    return spec | {"extra_operations": extras}


def _chained(problem: Problem, seed: int) -> Problem:
    """Some problems with their last extra operation made to wait for the first, 2 ms behind it."""
    if seed % 3 or len(problem.extras) < 2:
        return problem
    waits, (first, *_, last) = problem.precedences, [number for _, number in problem.extras]
    if first in waits.after and last in waits.before:
        return problem  # one after compute, the other before: a circle
    more = Precedences(
        *(np.append(x, y) for x, y in ((waits.before, first), (waits.after, last), (waits.lag_ns, 2 * 10**6)))
    )
    return replace(problem, precedences=more)


@cache
def _drawn(place: int) -> tuple[Problem, Proof]:
    for draw in range(MOST_DRAWS):
        seed = place + 8009 * draw
        spec = _busy(seed)
        if spec is None:
            continue
        problem = _chained(compile_all(spec)[0], seed)
        if len(problem.operations) > MOST_OPERATIONS or not problem.identical or obstacles(problem):
            continue
        proof = proved(problem, Objective.MAKESPAN, PROOF_S)
        if isinstance(proof, Proof):
            return problem, proof
    raise AssertionError(f"nothing in {MOST_DRAWS} draws")


@pytest.mark.parametrize("place", PLACES)
def test_nothing_refutes_the_optimum_and_what_is_refuted_is_derived_again(place: int) -> None:
    problem, proof = _drawn(place)
    optimum_ns, tick_ns = proof.value_ns, step_ns(problem)
    lattice = lattice_of(problem, MOST_STATES)
    assert lattice is not None
    assert lattice.tick_ns == tick_ns
    tables = Tables(lattice)
    assert tables.stands(optimum_ns // tick_ns) is not None
    bound = least_standing(tables, 0, optimum_ns // tick_ns)
    assert bound == 0 or verify(problem, count_states(problem, bound * tick_ns)).ok
    assert not verify(problem, count_states(problem, optimum_ns + 1)).ok

    found = Diver(tables).dive(optimum_ns // tick_ns, Rule(1, 0), seed=0, most_failures=200, most_nodes=2000)
    assert found.outcome != "refuted"
    if found.windows is not None:
        with suppress(DeadlockError):  # which W of several stages runs when is open at a leaf
            schedule = timed(problem, orders_of(problem, tables, found.windows), Objective.MAKESPAN)
            assert not fits(problem, schedule) or makespan_ns(schedule) >= optimum_ns

    targets = Targets(problem, timed(problem, proof.orders, Objective.MAKESPAN))
    windows = start_windows(problem, tables, optimum_ns // tick_ns)
    assert targets.decide(optimum_ns, windows, LIMITS).outcome == "met"
    below = targets.decide(optimum_ns - tick_ns, start_windows(problem, tables, optimum_ns // tick_ns - 1), LIMITS)
    if below.orders is not None:  # only where lanes are slower at times, which the model does not see
        assert makespan_ns(timed(problem, below.orders, Objective.MAKESPAN)) >= optimum_ns


@pytest.mark.parametrize("place", PLACES)
def test_moves_never_make_it_worse_and_keep_every_rule(place: int) -> None:
    problem, proof = _drawn(place)
    start = greedy(problem, Settings())
    shared = Shared(problem, Objective.MAKESPAN, start, 0, (60.0, 0.0), lambda *_: None, lambda *_: None, lambda: False)
    first = shared.value_ns
    moves = WindowMoves(shared, place)
    for _ in range(4):
        moves.step()
    assert shared.schedule is not None
    assert first is not None
    assert shared.value_ns is not None
    assert shared.value_ns <= first
    if fits(problem, shared.schedule):  # the first schedule may miss a deadline
        best = accepted(problem, shared.schedule.orders, Objective.MAKESPAN)
        assert proof.value_ns <= makespan_ns(best) == shared.value_ns
