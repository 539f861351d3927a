"""Contenders beside CrossPipe: time to the value that each of them reached, and to its proof, as ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.history import reached_s
from bench.row import OURS
from bench.verdicts import milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.measurement import Measurement
    from bench.row import Row

HEADER = (
    "instance",
    "contender",
    "its value ms",
    "its bound ms",
    "ours ms",
    "to its value s: it / ours",
    "ratio",
    "to proof s: it / ours",
    "ratio",
)
SHORTEST_S = 0.001
"""Times are told apart no finer than this in ratios."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two times and their ratio; `least` if the contender had not arrived at its limit, so that it is larger still."""

    theirs_s: float | None
    ours_s: float | None
    ratio: float | None
    least: bool = False

    @classmethod
    def of(cls, theirs_s: float | None, ours_s: float | None, limit_s: float) -> Ratio:
        """Compare; no ratio where we have not arrived ourselves."""
        if ours_s is None:
            return cls(theirs_s, None, None)
        ratio = max(limit_s if theirs_s is None else theirs_s, SHORTEST_S) / max(ours_s, SHORTEST_S)
        return cls(theirs_s, ours_s, ratio, theirs_s is None)

    @property
    def plain(self) -> list[float | bool | None]:
        """Their time, ours, the ratio, and whether it is the least it can be."""
        return [self.theirs_s, self.ours_s, self.ratio, self.least]

    @property
    def words(self) -> tuple[str, str]:
        """The times, and the ratio."""
        theirs, ours = ("not" if time is None else f"{time:.2f}" for time in (self.theirs_s, self.ours_s))
        ratio = "" if self.ratio is None else f"{'over ' if self.least else ''}{self.ratio:,.1f}"
        return f"{theirs} / {ours}", ratio


@dataclass(frozen=True, slots=True)
class Duel:
    """One contender against us on one instance."""

    row: Row
    theirs: Measurement
    ours: Measurement

    @property
    def to_value(self) -> Ratio:
        """Time to the contender's last value."""
        value_ns = self.theirs.value_ns
        if value_ns is None:
            return Ratio(None, None, None)
        limit_s = self.row.limit_s
        return Ratio.of(reached_s(self.theirs.history, value_ns), reached_s(self.ours.history, value_ns), limit_s)

    @property
    def to_proof(self) -> Ratio:
        """Time to the proof."""
        return Ratio.of(self.theirs.proof_s, self.ours.proof_s, self.row.limit_s)


def duels(measured: Sequence[tuple[Row, Measurement]]) -> list[Duel]:
    """Pair each contender's row with ours of the same instance."""
    ours = {row.name: measurement for row, measurement in measured if row.contender == OURS}
    return [
        Duel(row, measurement, ours[row.name])
        for row, measurement in measured
        if row.contender != OURS and row.name in ours
    ]


def versus_data(measured: Sequence[tuple[Row, Measurement]]) -> list[dict[str, Any]]:
    """Give the ratios as plain data."""
    return [
        {
            "instance": duel.row.name,
            "contender": duel.row.contender,
            "to_value": duel.to_value.plain,
            "to_proof": duel.to_proof.plain,
        }
        for duel in duels(measured)
    ]


def versus_markdown(measured: Sequence[tuple[Row, Measurement]]) -> str:
    """Write the ratios; above 1 means that the contender takes longer."""
    lines = [
        "### Ratios",
        "",
        "Time of the contender / our time, in one run on one machine, one thread each; `not` = not within its limit.",
        "",
        f"| {' | '.join(HEADER)} |",
        f"|{'---|' * len(HEADER)}",
    ]
    for duel in duels(measured):
        value, bound = duel.theirs.value_ns, duel.theirs.bound_ns
        cells = (
            duel.row.name,
            duel.row.contender,
            duel.theirs.status if value is None else milliseconds(value),
            "" if bound is None else milliseconds(bound),
            "" if duel.ours.value_ns is None else milliseconds(duel.ours.value_ns),
            *duel.to_value.words,
            *duel.to_proof.words,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
