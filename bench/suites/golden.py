"""Small cases whose optimum is proved elsewhere, and cases proved to have no schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.data import read_json
from bench.row import Goal, Reference, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILIES = frozenset(
    {
        "asymmetric",
        "b_raises_memory",
        "bandwidth",
        "combined_vs_split",
        "four_dc",
        "frozen",
        "half_duplex",
        "heavy_end",
        "heterogeneous",
        "huge_units",
        "infeasible",
        "latency_memory",
        "loop",
        "m_less_than_p",
        "m_not_multiple",
        "memory_cap",
        "partial_release",
        "per_stage_cap",
        "recompute",
        "span",
        "span_delay",
        "v_wave",
        "variable_microbatch",
        "zero_transfer",
    }
)
"""The cases' names without their numbers. The others need what the search does not choose yet."""

LIMIT_S = 10.0


def rows() -> list[Row]:
    """Build the rows, one per case."""
    from tests.golden.mapping import case_to_spec  # noqa: PLC0415 - needs the library, which the runner must not load

    cases = [case for case in read_json("golden/all.json") if _is_listed(case)]
    return [
        Row(
            suite="golden",
            name=case["id"],
            spec=case_to_spec(case),
            objective=case["objective"],
            limit_s=LIMIT_S,
            quick=case["id"].endswith("-01") and case["id"].split("-")[0] in ("infeasible", "loop", "span"),
            reference=_reference(case),
            goal=Goal(proof_s=LIMIT_S),
        )
        for case in cases
    ]


def _is_listed(case: Mapping[str, Any]) -> bool:
    family = case["id"].rsplit("-", 1)[0]
    return family in FAMILIES and case["expect"].get("reason_class") != "input"


def _reference(case: Mapping[str, Any]) -> Reference:
    from tests.golden.mapping import value_ns  # noqa: PLC0415 - as above

    expect = case["expect"]
    if expect["status"] == "infeasible":
        return Reference(status="infeasible")
    proved = value_ns(case, expect[case["objective"]])
    return Reference(status="optimal", value_ns=proved, bound_ns=proved)
