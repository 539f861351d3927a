"""Suites of many rows: a summary by group."""

from __future__ import annotations

from collections import Counter
from statistics import median
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from docs.generate.benchmark_cells import gap_of, percent, seconds
from docs.generate.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Row = Mapping[str, Any]
    Group = Callable[[str, Row], str]

COLUMNS = ("group", "rows", "proved", "held", "largest gap", "median first s", "median proof s")


def by_size(key: str, row: Row) -> str:
    """Group by devices, placement and objective, which the names of the peers' instances tell."""
    words = key.split()
    return f"{words[0]} {words[-2]} {row['objective']}"


def by_family(key: str, row: Row) -> str:
    """Group by what a case is about; the last part of its name is a number."""
    return f"{key.rpartition('-')[0]} {row['objective']}"


GROUPS: Mapping[str, Group] = MappingProxyType({"golden": by_family, "peers": by_size})
"""How the rows of a suite are grouped."""


def summary(group: Group, rows: Mapping[str, Row]) -> str:
    """Write a line per group, in the order of their first rows."""
    groups: dict[str, list[Row]] = {}
    for key, row in rows.items():
        groups.setdefault(group(key, row), []).append(row)
    return table(COLUMNS, [_cells(name, members) for name, members in groups.items()])


def held(rows: Iterable[Row]) -> str:
    """Count the verdicts that hold, by name."""
    return ", ".join(f"{name} {good} of {asked}" for name, good, asked in _verdicts(rows))


def _verdicts(rows: Iterable[Row]) -> list[tuple[str, int, int]]:
    """Count the verdicts that hold and all, by name; those of a gap are one."""
    asked: Counter[str] = Counter()
    good: Counter[str] = Counter()
    for row in rows:
        for name, holds, _ in row["verdicts"]:
            asked[name.partition(" ")[0]] += 1
            good[name.partition(" ")[0]] += holds
    return [(name, good[name], asked[name]) for name in asked]


def _cells(name: str, rows: Sequence[Row]) -> Sequence[str]:
    gaps = [gap for gap in map(gap_of, rows) if gap is not None]
    proofs = [row["proof_s"] for row in rows if row["proof_s"] is not None]
    firsts = [row["first_s"] for row in rows if row["first_s"] is not None]
    return (
        name,
        str(len(rows)),
        str(len(proofs)),
        ", ".join(
            f"{verdict} {asked if good == asked else f'**{good} of {asked}**'}"
            for verdict, good, asked in _verdicts(rows)
        ),
        percent(max(gaps)) if gaps else "",
        seconds(median(firsts)) if firsts else "",
        seconds(median(proofs)) if proofs else "",
    )
