"""Stage assignment: what the cut found costs and fills, and what it gains over the rules of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docs.generate.benchmark_cells import gap_of, milliseconds, percent, seconds
from docs.generate.markdown import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Row = Mapping[str, Any]

RULES = {"even": ("even",), "torchtitan": ("torchtitan",), "Megatron": ("Megatron: layers", "Megatron: embedding")}
"""How the rules of an answer begin, by column; the better of several counts."""

COLUMNS = (
    "instance",
    "value ms",
    "bound ms",
    "gap",
    "busiest device ms",
    "fullest device",
    *(f"gain over {name}" for name in RULES),
    "first s",
    "total s",
)
NO_CUT = "no cut"


def parts(rows: Mapping[str, Row]) -> list[str]:
    """Write the table, then the cuts."""
    cut = {key: row for key, row in rows.items() if "cut" in row}
    return [
        table(COLUMNS, [_cells(key, row) for key, row in rows.items()]),
        "What was chosen:",
        table(("instance", "looked at", "layers per stage, by site"), [_chosen(key, row) for key, row in cut.items()]),
    ]


def _cells(key: str, row: Row) -> Sequence[str]:
    gap, cut = gap_of(row), row.get("cut")
    share = None if cut is None else cut["peak_share"]
    return (
        key,
        row["status"] if row["value_ns"] is None else milliseconds(row["value_ns"]),
        "" if row["bound_ns"] is None else milliseconds(row["bound_ns"]),
        "" if gap is None else percent(gap),
        "" if cut is None else f"{cut['bottleneck_ms']:,.3f}".rstrip("0").rstrip("."),
        "" if share is None else f"{100 * share:.1f} %",
        *("" if cut is None else _gain(cut["rules"], begins) for begins in RULES.values()),
        seconds(row["first_s"]),
        seconds(row["total_s"]),
    )


def _gain(rules: Mapping[str, Mapping[str, Any]], begins: tuple[str, ...]) -> str:
    """Write the gain over the best cut of a kind of rule."""
    found = [rule for name, rule in rules.items() if name.startswith(begins)]
    gains = [rule["gain"] for rule in found if rule["gain"] is not None]
    if gains:
        return percent(min(gains)) if min(gains) >= 0 else f"{100 * min(gains):.2f} %"
    reasons = [rule["reason"] for rule in found if rule["reason"]]
    return NO_CUT if all("multiple" in reason or "without layers" in reason for reason in reasons) else "no schedule"


def _chosen(key: str, row: Row) -> Sequence[str]:
    """Write the layers of each stage, stages of a site together: `a 7 6 6 | b 10 10`."""
    cut = row["cut"]
    text: list[str] = []
    site = None
    for count, device, recompute in zip(cut["layers_per_stage"], cut["devices"], cut["recompute"], strict=True):
        if device.partition("/")[0] != site:
            site = device.partition("/")[0]
            text.append(f"{', ' if text else ''}{site}:")
        text.append(f" {count}{'' if recompute in (None, 'none') else recompute[0]}")
    return key, str(cut["considered"]), "".join(text)
