"""The greedy and the families on random problems: memory kept, never stuck, accepted by the independent checker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.families.instances import Extra, Message, Work, build
from tests.unit.families.judged import accepted

from crosspipe.errors import DoesNotFitError
from crosspipe.families.greedy import greedy
from crosspipe.families.registry import FAMILIES
from crosspipe.families.settings import Keep, Prefer, Rule, Settings
from crosspipe.families.vary import draw
from crosspipe.problem.combine import combine
from crosspipe.problem.links import Window
from crosspipe.problem.problem import Objective, Problem
from crosspipe.schedule.measure import makespan_ns

if TYPE_CHECKING:
    from random import Random


@dataclass
class Shape:
    """What was drawn, for the report of a failure."""

    problem: Problem
    least: list[int]


def stages_on_devices(draw_: st.DrawFn) -> tuple[str, list[int]]:
    traversal = draw_(st.sampled_from(["unidirectional", "loop", "wave"]))
    p = draw_(st.integers(1, 4))
    chunks = 1 if traversal == "unidirectional" else draw_(st.integers(2, 3))
    order: list[int] = []
    for c in range(chunks):
        order += list(reversed(range(p))) if traversal == "wave" and c % 2 else list(range(p))
    return traversal, order


@st.composite
def works(draw_: st.DrawFn, stages: int) -> list[Work]:
    """Unlike stages; a frozen head; here and there a combined, an input-only or a memory-raising backward."""
    frozen = draw_(st.integers(0, 1)) if stages > 1 else 0
    found = []
    for s in range(stages):
        activation = draw_(st.integers(1, 6))
        forward = draw_(st.integers(1, 6))
        extra = draw_(st.sampled_from([0, 0, 1, 4]))
        form = "frozen" if s < frozen else draw_(st.sampled_from(["split", "split", "split", "combined", "input"]))
        if form == "frozen":
            found.append(Work(forward, activation=activation))
        elif form == "combined":
            found.append(Work(forward, backward=draw_(st.integers(1, 9)), activation=activation, extra=extra))
        elif form == "input":
            found.append(Work(forward, draw_(st.integers(1, 6)), activation=activation, extra=extra))
        else:
            retained = draw_(st.integers(0, activation))
            b, w = draw_(st.integers(1, 6)), draw_(st.integers(1, 6))
            found.append(Work(forward, b, w, activation=activation, retained=retained, extra=extra))
    return found


@st.composite
def shapes(draw_: st.DrawFn) -> Shape:
    traversal, order = stages_on_devices(draw_)
    given_works = draw_(works(len(order)))
    identical = draw_(st.booleans())
    m = draw_(st.integers(1, 6))
    multipliers: list[int] | int = m if identical else [draw_(st.integers(1, 3)) for _ in range(m)]
    half = draw_(st.booleans())
    hops: list[tuple[Message, Message]] = []
    for s in range(len(order) - 1):
        latency, transfer = draw_(st.integers(0, 9)), draw_(st.integers(0, 5))
        # Boundaries that cross the middle share one channel, as between two sites.
        between = {order[s], order[s + 1]} & {0} and order[s] != order[s + 1]
        name = "wan" if between else f"near{s}"
        out, back = (name, name) if half else (f"{name}/out", f"{name}/back")
        hops.append((Message(latency, transfer, out), Message(latency, transfer, back)))
    window = draw_(st.sampled_from([None, Window(3, 9, 0), Window(0, 20, 0, 50), Window(30, 70, 0)]))
    replicas = draw_(st.integers(1, 2))
    arguments = {
        "activations": [a for a, _ in hops],
        "gradients": [g for _, g in hops],
        "windows": dict.fromkeys(("wan", "wan/out", "wan/back"), (window,)) if window else {},
        "replicas": replicas,
        "shared": frozenset({"wan", "wan/out", "wan/back"}),
        "fixed": draw_(st.booleans()) and not identical,
        "in_flight": draw_(st.sampled_from([None, None, 1, 2])),
        "extras": tuple(
            Extra(name, 4, after, before, device)
            for name, after, before, device in [("gather", (), (0,), 0), ("reduce", (len(order) - 1,), (), None)]
            if draw_(st.booleans())
        ),
        "traversal": traversal,
    }
    scale = max(multipliers) if isinstance(multipliers, list) else 1
    least = [scale * need for need in lone_needs(given_works, order)]
    room = draw_(st.sampled_from([0, 0, 1, 3, 8]))
    capacity = [need + room * scale for need in least]
    problem = build(given_works, order, multipliers, capacity=capacity, base=0, **arguments)  # type: ignore[arg-type]
    return Shape(problem, least)


def lone_needs(stages: list[Work], order: list[int]) -> list[int]:
    """Most memory that one microbatch alone needs on each device: F's upward, backwards downward, each W at once."""
    needs = []
    for device in range(max(order) + 1):
        mine = [work for work, place in zip(stages, order, strict=True) if place == device]
        held = most = 0
        for work in mine:
            most = max(most, held + work.activation)
            held += work.activation if work.backward is not None or work.backward_input is not None else 0
        for work in reversed(mine):
            if work.backward is not None or work.backward_input is not None:
                most = max(most, held + work.extra)
                held -= work.activation
        needs.append(most)
    return needs


@settings(max_examples=150, deadline=None)
@given(shapes(), st.randoms(use_true_random=False))
def test_the_greedy_always_finds_a_schedule_that_everyone_accepts(shape: Shape, rng: Random) -> None:
    accepted(shape.problem, greedy(shape.problem, draw(rng)))


@settings(max_examples=60, deadline=None)
@given(shapes(), st.sampled_from(list(Rule)), st.sampled_from(list(Keep)), st.sampled_from(list(Prefer)))
def test_every_rule_is_free_of_deadlock_at_the_least_memory(
    shape: Shape, rule: Rule, keep: Keep, prefer: Prefer
) -> None:
    tight = shape.problem
    accepted(tight, greedy(tight, Settings(rule=rule, keep=keep, prefer=prefer, patience=1.5, owed=2, depth=1.0)))


@settings(max_examples=60, deadline=None)
@given(shapes())
def test_one_byte_less_than_a_microbatch_needs_is_refused(shape: Shape) -> None:
    problem = shape.problem
    device = int(np.argmax(shape.least))
    pools = tuple(
        replace(pool, capacity=shape.least[device] - 1) if pool.device == device and pool.unit == "bytes" else pool
        for pool in problem.pools
    )
    starved = replace(problem, pools=pools)
    refused = False
    try:
        greedy(starved, Settings())
    except DoesNotFitError as error:
        refused = "one microbatch alone needs" in str(error)
    assert refused


@settings(max_examples=60, deadline=None)
@given(shapes(), st.sampled_from(list(Objective)))
def test_families_keep_every_limit_or_say_which_they_break(shape: Shape, objective: Objective) -> None:
    problem = shape.problem
    for family in FAMILIES:
        result = family.put_to(problem, objective)
        assert (result.orders is None) == (result.reason is not None)
        if result.orders is not None:
            schedule = accepted(problem, result.orders, objective)
            if objective is Objective.MAKESPAN:
                assert result.value_ns is not None
                assert makespan_ns(schedule) <= result.value_ns


@settings(max_examples=40, deadline=None)
@given(shapes(), st.randoms(use_true_random=False))
def test_the_greedy_runs_combined_problems_too(shape: Shape, rng: Random) -> None:
    problem = combine(shape.problem)
    accepted(problem, greedy(problem, draw(rng)))
