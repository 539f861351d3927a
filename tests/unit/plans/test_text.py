"""A plan on a terminal: at most 25 lines, all that matters in them."""

from __future__ import annotations

from tests.unit.plans.planning import small_plan

from crosspipe.plans.text import plan_text


def test_lines_of_a_plan() -> None:
    found = small_plan()
    lines = plan_text(found)
    assert len(lines) <= 25
    assert lines[0].startswith("plan of two small sites: 4 arrangements of one step")
    heads = "devices pipeline data step ms bound gap memory tokens/s price/step"
    assert lines[1].split() == heads.split()
    assert [line.split("  ")[0] for line in lines[2:6]] == [row.name for row in found.arrangements]
    assert found.worth.sentence in lines
    assert all(row.sentence in lines for row in found.break_evens)


def test_many_arrangements_and_break_evens_stay_within_the_lines() -> None:
    found = small_plan()
    many = found.model_copy(
        update={
            "arrangements": found.arrangements * 5
            + [found.arrangements[0].model_copy(update={"value_ms": None, "reason": "too small"})] * 9,
            "break_evens": found.break_evens * 9,
        }
    )
    lines = plan_text(many)
    assert len(lines) == 25
    assert sum(line.endswith("more in --format json") for line in lines) == 2
    assert sum(line.endswith("too small") for line in lines) == 3
