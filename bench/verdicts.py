"""What a measured row is held against: known values and bounds, other schedulers, goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.cuts import NOTE, beaten_by
from bench.history import within_s
from bench.quantities import NS_PER_MS

if TYPE_CHECKING:
    from bench.measurement import Measurement
    from bench.row import Goal, Reference, Row


@dataclass(frozen=True, slots=True)
class Verdict:
    """One comparison: what is asked, whether it holds, and the words for it."""

    name: str
    holds: bool
    words: str


def verdicts(row: Row, measured: Measurement) -> list[Verdict]:
    """Hold a row against all that is known and asked of it."""
    if measured.status == "failed":
        return [Verdict("runs", False, measured.failure or "failed")]
    return [*_against(row.reference, measured), *_beside_rules(measured), *_asked(row.goal, measured)]


def milliseconds(time_ns: int) -> str:
    """Write a time in ms, exactly."""
    whole, rest = divmod(time_ns, NS_PER_MS)
    return f"{whole:,}" if not rest else f"{whole:,}.{rest:06d}".rstrip("0")


def _against(known: Reference, measured: Measurement) -> list[Verdict]:
    found = []
    value_ns, bound_ns = measured.value_ns, measured.bound_ns
    if known.status == "infeasible":
        found.append(Verdict("refuted", measured.status == "infeasible", f"is {measured.status}, has no schedule"))
    if known.value_ns is not None:
        found.append(_held("value", value_ns, known.value_ns, lower_is_better=True, rounding_ns=known.rounding_ns))
    if known.bound_ns is not None:
        found.append(_held("bound", bound_ns, known.bound_ns, lower_is_better=False, rounding_ns=known.rounding_ns))
    if known.status == "optimal" and value_ns is not None and known.value_ns is not None:
        sound = value_ns >= known.value_ns and (bound_ns is None or bound_ns <= known.value_ns)
        found.append(Verdict("sound", sound, f"the proved optimum is {milliseconds(known.value_ns)}"))
    if known.best_peer is not None:
        name, peer_ns = known.best_peer
        found.append(
            _held("peer", value_ns, peer_ns, lower_is_better=True, whose=f"{name} ", rounding_ns=known.rounding_ns)
        )
    return found


def _beside_rules(measured: Measurement) -> list[Verdict]:
    """Hold an answer that has cut the layers against the cuts of others."""
    note = (measured.notes or {}).get(NOTE)
    if note is None:
        return []
    better = beaten_by(note)
    return [Verdict("rules", not better, f"worse than {', '.join(better)}" if better else "no rule's cut is better")]


def _held(
    name: str, own: int | None, other: int, *, lower_is_better: bool, whose: str = "", rounding_ns: int = 0
) -> Verdict:
    if own is None:
        return Verdict(name, False, f"none, {whose}{milliseconds(other)}")
    better, equal = (own < other) if lower_is_better else (own > other), abs(own - other) <= rounding_ns
    word = "reached" if equal else "beaten" if better else "missed"
    return Verdict(name, better or equal, f"{whose}{milliseconds(other)} {word}")


def _asked(goal: Goal, measured: Measurement) -> list[Verdict]:
    found = []
    if goal.first_s is not None:
        found.append(_in_time("first", measured.first_s, goal.first_s))
    if goal.gap is not None:
        limit_s = goal.gap_s if goal.gap_s is not None else float("inf")
        found.append(_in_time(f"gap {goal.gap:.2%}", within_s(measured.history, goal.gap), limit_s))
    if goal.proof_s is not None:
        found.append(_in_time("proof", measured.proof_s, goal.proof_s))
    if goal.peak_mb is not None and measured.peak_mb is not None:
        words = f"{measured.peak_mb:,.0f} of {goal.peak_mb:,.0f} MB"
        found.append(Verdict("memory", measured.peak_mb <= goal.peak_mb, words))
    return found


def _in_time(name: str, time_s: float | None, limit_s: float) -> Verdict:
    if time_s is None:
        return Verdict(name, False, f"not within {limit_s:g} s")
    return Verdict(name, time_s <= limit_s, f"{time_s:.2f} of {limit_s:g} s")
