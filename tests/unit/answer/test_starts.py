"""Answers to start from: never worsened, ignored with a reason where they do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.building import STAGE, spec_data
from tests.property.random_specs import random_spec
from tests.solving import assert_sound, solve_here

from crosspipe.answer.solve import solve
from crosspipe.errors import OptionError

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer


def two_sites(**changes: Any) -> dict[str, Any]:
    """Three devices, the last behind a slow link, with room for three microbatches each."""
    given: dict[str, Any] = {"memory_gb": 0.003, "latency_ms": 2, "microbatches": 7, "link": {"bandwidth_gbps": 8}}
    given |= changes
    stages = [STAGE | {"forward_ms": 2, "backward_input_ms": 3, "boundary_mb": 1} for _ in range(3)]
    return spec_data(
        stages,
        given["microbatches"],
        sites={
            "a": {"devices": 2, "memory_gb": given["memory_gb"]},
            "b": {"devices": 1, "memory_gb": given["memory_gb"]},
        },
        links=[{"between": ["a", "b"], "one_way_latency_ms": given["latency_ms"]} | given["link"]],
    )


def solved(spec: Any, **options: Any) -> Answer:
    return solve(spec, **({"time_limit_s": 0} | options))


@pytest.fixture(scope="module")
def proved() -> Answer:
    with pytest.MonkeyPatch.context() as patch:
        answer = solve_here(patch, two_sites(), time_limit_s=20)
    assert answer.status == "optimal"
    return answer


@pytest.mark.parametrize(
    "changes",
    [{}, {"memory_gb": 0.004}, {"latency_ms": 1}, {"link": {"bandwidth_gbps": 80}}, {"link": {}}],
    ids=str,
)
def test_a_spec_that_asks_no_more_is_answered_no_worse(proved: Answer, changes: dict[str, Any]) -> None:
    spec = two_sites(**changes)
    answer = solved(spec, start=[proved])
    assert_sound(spec, answer)
    assert answer.objective.value_ms is not None
    assert proved.objective.value_ms is not None
    assert answer.objective.value_ms <= proved.objective.value_ms
    assert not any("ignored" in note for note in answer.notes)


def test_a_start_keeps_its_orders_where_two_links_of_a_route_share_a_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    links = [
        {"between": pair, "bandwidth_gbps": 8, "one_way_latency_ms": 1, "group": "ring", "duplex": "half"}
        for pair in (["a", "b"], ["b", "c"])
    ]
    stages = [STAGE | {"boundary_mb": 2}, STAGE]
    sites = {name: {"devices": 1} for name in "abc"}
    spec = spec_data(stages, 4, sites=sites, links=links, placement={"map": ["a/0", "c/0"]})
    best = solve_here(monkeypatch, spec, time_limit_s=20)
    again = solved(spec, start=[best])
    assert again.objective.value_ms == best.objective.value_ms
    assert not any("ignored" in note for note in again.notes)


def test_the_better_start_is_named(proved: Answer) -> None:
    spec = two_sites()
    worse = solved(spec)
    assert worse.objective.value_ms != proved.objective.value_ms, "else the test shows nothing"
    answer = solved(spec, start=[worse, proved])
    assert answer.objective.value_ms == proved.objective.value_ms
    assert answer.provenance.schedule_from == "start 2"


def test_messages_that_were_in_no_order_are_put_in_that_of_readiness() -> None:
    free = solved(two_sites(link={}))
    spec = two_sites()
    answer = solved(spec, start=[free])
    assert_sound(spec, answer)
    assert not any("ignored" in note for note in answer.notes)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"memory_gb": 0.002}, "its orders need more memory"),
        ({"microbatches": 6}, "it has operations that this spec has not"),
        ({"microbatches": 8}, "it has no F of stage 0, microbatch 7"),
    ],
)
def test_what_does_not_fit_is_ignored_and_said_so(proved: Answer, changes: dict[str, Any], reason: str) -> None:
    spec = two_sites(**changes)
    answer = solved(spec, start=[proved])
    assert_sound(spec, answer)
    assert any(note.startswith(f"start was ignored: {reason}") for note in answer.notes)
    assert answer.objective == solved(spec).objective


def test_other_reasons_to_ignore_a_start(proved: Answer) -> None:
    spec = two_sites()
    bare = solved(spec, detail="summary")
    loop = proved.model_copy(update={"traversal": "loop"})
    recomputing = proved.model_copy(update={"recomputed_stages": [1]})
    notes = solved(spec, start=[bare, loop, recomputing]).notes
    assert "start 1 was ignored: it holds no operations" in notes
    assert "start 2 was ignored: its traversal, loop, is none of this spec's" in notes
    assert "start 3 was ignored: it recomputes stages that have no such option here" in notes


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("kind", "X", "its operations cannot be read ('X')"),
        ("start_ms", float("nan"), "its operations cannot be read"),
        ("start_ms", float("inf"), "its operations cannot be read"),
        ("end_ms", 1e300, "its times lie beyond"),
        ("microbatch", 99, "it has no "),
    ],
)
def test_a_start_that_cannot_be_read_is_ignored(proved: Answer, column: str, value: object, reason: str) -> None:
    """As from a file that someone has changed."""
    document = proved.model_dump()
    document["devices"][0]["operations"][column][0] = value
    answer = solved(two_sites(), start=[type(proved).model_validate(document)])
    assert any(note.startswith(f"start was ignored: {reason}") for note in answer.notes)


def test_columns_of_unlike_length_cannot_be_read(proved: Answer) -> None:
    document = proved.model_dump()
    document["devices"][0]["operations"]["stage"].pop()
    answer = solved(two_sites(), start=[type(proved).model_validate(document)])
    assert any(note.startswith("start was ignored: its operations cannot be read") for note in answer.notes)


def test_what_is_no_answer_is_refused(proved: Answer) -> None:
    several = "must be a list of answers"
    for start, told in (
        (proved, several),
        ("answer.json", several),
        (None, several),
        ([proved, proved.model_dump()], "/start/1: must be an answer, as `solve` returns it"),
    ):
        with pytest.raises(OptionError, match=told):
            solve(two_sites(), time_limit_s=0, start=start)  # type: ignore[arg-type]  # what untyped callers may pass


def test_a_start_that_waits_in_a_circle_is_ignored(proved: Answer) -> None:
    """The first device turned round: its first F now comes after the last W."""
    first = proved.devices[0]
    assert first.operations is not None
    last = max(first.operations.end_ms)
    turned = first.operations.model_copy(
        update={
            "start_ms": [last - time for time in first.operations.end_ms],
            "end_ms": [last - time for time in first.operations.start_ms],
        }
    )
    start = proved.model_copy(
        update={"devices": [first.model_copy(update={"operations": turned}), *proved.devices[1:]]}
    )
    answer = solved(two_sites(), start=[start])
    assert any(note.startswith("start was ignored: ") for note in answer.notes)


@pytest.mark.parametrize("seed", range(0, 20, 4))
@pytest.mark.parametrize("objective", ["makespan", "span"])
def test_an_answer_is_a_start_of_its_own_spec(seed: int, objective: str) -> None:
    """Whatever the spec holds: replicas, extra operations, recomputation, windows."""
    spec = random_spec(seed)
    first = solved(spec, objective=objective)
    again = solved(spec, objective=objective, start=[first])
    assert_sound(spec, again)
    assert not any("ignored" in note for note in again.notes)
    assert again.objective.value_ms is not None
    assert first.objective.value_ms is not None
    assert again.objective.value_ms <= first.objective.value_ms
