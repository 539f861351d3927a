"""What was measured of a row, and the one figure for several runs of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.cuts import NOTE
from bench.history import State, first_s, within_s

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ONE_PERCENT = 0.01


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came of a row.

    Attributes
    ----------
    status
        `optimal`, `feasible`, `infeasible`, `unknown`, or `failed` with the `failure` in words.
    value_ns, bound_ns
        Of the answer.
    first_s, one_percent_s, proof_s
        Time to the first schedule, to a gap of at most 1 %, to a gap of 0 or the proof that there is no schedule.
    total_s
        Time to the answer.
    peak_mb
        Most memory of all its processes together.
    value_from, bound_from
        What the value and the bound come from.
    history
        Every change of value or bound.
    notes
        Figures that belong to the contender alone.
    runs
        How many runs stand behind the figures.
    """

    status: str
    value_ns: int | None = None
    bound_ns: int | None = None
    first_s: float | None = None
    one_percent_s: float | None = None
    proof_s: float | None = None
    total_s: float | None = None
    peak_mb: float | None = None
    value_from: str | None = None
    bound_from: str | None = None
    history: tuple[State, ...] = ()
    notes: Mapping[str, Any] | None = None
    failure: str | None = None
    runs: int = 1

    @property
    def gap(self) -> float | None:
        """(value - bound) / value."""
        return State(0.0, self.value_ns, self.bound_ns, "").gap

    @classmethod
    def failed(cls, why: str, peak_mb: float | None = None, history: Sequence[State] = ()) -> Measurement:
        """State that a row came to nothing; what was told until then is kept."""
        last = history[-1] if history else State(0.0, None, None, "")
        return cls("failed", last.value_ns, last.bound_ns, failure=why, peak_mb=peak_mb, history=tuple(history))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Measurement:
        """Read what `to_json` wrote."""
        return cls(**{**data, "history": tuple(State(*state) for state in data["history"])})

    def with_history(self, history: Sequence[State]) -> Measurement:
        """Give the measurement with its history."""
        return replace(self, history=tuple(history))

    def to_json(self) -> dict[str, Any]:
        """Write as plain data; states as lists."""
        data = asdict(self)
        data["history"] = [[s.seconds, s.value_ns, s.bound_ns, s.source] for s in self.history]
        return data


def with_times(measurement: Measurement) -> Measurement:
    """Read the times from the history; a refutation is a proof, too.

    While a cut is open, the bounds told are those of the assignments known so far: only the answer's holds for all.
    """
    history = measurement.history
    if NOTE in (measurement.notes or {}):
        proof_s = measurement.total_s if measurement.status == "optimal" else None
        return replace(measurement, first_s=first_s(history), one_percent_s=None, proof_s=proof_s)
    proof_s = within_s(history, 0.0) if measurement.status == "optimal" else None
    if measurement.status == "infeasible" or (measurement.status == "optimal" and proof_s is None):
        proof_s = measurement.total_s
    return replace(
        measurement,
        first_s=first_s(history),
        one_percent_s=within_s(history, ONE_PERCENT),
        proof_s=proof_s,
    )


def combined(runs: Sequence[Measurement]) -> Measurement:
    """One figure for several runs: medians of times, the worst value, bound, status and memory.

    A time that one of the runs did not reach is worse than any.
    """
    worst = max(runs, key=_badness)

    def middle(times: list[float | None]) -> float | None:
        found = median(float("inf") if time is None else time for time in times)
        return None if found == float("inf") else found

    peaks = [run.peak_mb for run in runs if run.peak_mb is not None]
    return replace(
        worst,
        first_s=middle([run.first_s for run in runs]),
        one_percent_s=middle([run.one_percent_s for run in runs]),
        proof_s=None if worst.proof_s is None else middle([run.proof_s for run in runs]),
        total_s=middle([run.total_s for run in runs]),
        peak_mb=max(peaks, default=None),
        runs=len(runs),
    )


_ORDER = ("infeasible", "optimal", "feasible", "unknown", "failed")


def _badness(run: Measurement) -> tuple[int, int, int]:
    value = run.value_ns if run.value_ns is not None else 2**63
    bound = run.bound_ns if run.bound_ns is not None else -1
    return _ORDER.index(run.status), value, -bound
