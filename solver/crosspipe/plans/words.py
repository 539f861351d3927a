"""What a plan says in sentences: whether more sites are worth it, and where the ranking changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.answer.summary import ms, percent
from crosspipe.plans.compare import NO_TIME
from crosspipe.plans.models import SITE, Worth
from crosspipe.plans.price import price_per_step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from crosspipe.plans.break_even import Axis, Found
    from crosspipe.plans.compare import Solved


@dataclass(frozen=True, slots=True)
class Amount:
    """What every link or device has of something, where all have the same."""

    value: Decimal
    unit: str


AMOUNTS = {"bandwidth": "bandwidth between sites", "latency": "latency between sites", "memory": "memory"}


def worth_of(rows: Sequence[Solved], sites: int) -> Worth:
    """Say whether more than one site is worth it: the fastest arrangement over several against the fastest on one."""
    several = _fastest([row for row in rows if row.candidate.kind != SITE])
    single = _fastest([row for row in rows if row.candidate.kind == SITE])
    if sites == 1:
        return _told(
            "one_site", several, single, proved=True, text="The spec has one site: there is nothing to compare."
        )
    if several is None and single is None:
        text = "No arrangement has a schedule that counts the whole step."
        return _told("undecided", None, None, proved=False, text=text)
    if several is None or single is None:
        return _one_alone(rows, several, single)
    mine, other = several.value_ms or 0.0, single.value_ms or 0.0
    gain = 1 - mine / other if other else 0.0
    if mine < other:
        least = None if single.bound_ms is None or not other else 1 - mine / single.bound_ms
        proved = least is not None and least > 0 and _all_bounded_above(rows, mine, site=True)
        sure = " as far as is known" if not proved else ", proved"
        sure += f" at least {percent(least)}" if proved and least is not None and least < gain else ""
        text = f"Yes: `{several.candidate.name}` takes {ms(mine)} a step, "
        text += (
            f"against {ms(other)} for `{single.candidate.name}`: {percent(gain)} less{sure}{_prices(several, single)}."
        )
        return _told("yes", several, single, proved=proved, text=text, gain=gain)
    proved = _all_bounded_above(rows, other, site=False)
    text = f"No: `{single.candidate.name}` takes {ms(other)} a step, against {ms(mine)} for `{several.candidate.name}`"
    text += f"{'' if proved else ', as far as is known'}{_prices(single, several)}."
    return _told("no", several, single, proved=proved, text=text, gain=gain)


def flip_sentence(axis: Axis, best: str, other: str, found: Found, own: Amount | None) -> str:
    """Say where `other` becomes faster than `best`, with what is proved; `own` is the amount at factor 1."""
    amount = AMOUNTS[axis.name]
    unfinished = "" if found.complete else " (time was over)"
    if found.direction is None:
        seen = [probe.factor for probe in found.probes]
        last = f"from {min(seen):g}x to {max(seen):g}x" if len(seen) > 1 else "at 1x"
        return f"{amount}: `{best}` stays ahead of `{other}` {last} wherever it was solved{unfinished}"
    kept, flips = found.last_best(proved=False), found.first_other(proved=False)
    sure, surely = found.last_best(proved=True), found.first_other(proved=True)
    text = f"{amount}: `{other}` is faster at {_times(flips, own)}, `{best}` still at {_times(kept, own)}"
    if (sure, surely) == (kept, flips):
        return f"{text}, both proved{unfinished}"
    return f"{text}; proved from {_times(surely, own)} and at {_times(sure, own)}{unfinished}"


def _times(factor: float | None, own: Amount | None) -> str:
    if factor is None:
        return "no factor"
    return f"{factor:g}x" if own is None else f"{factor:g}x ({float(own.value) * factor:,.4g} {own.unit})"


def _prices(one: Solved, other: Solved) -> str:
    """Say what a step costs both ways, where prices are known."""
    prices = [None if row.variant is None else price_per_step(row.variant.spec, row.value_ms) for row in (one, other)]
    return "" if None in prices else f"; a step costs {prices[0]:,.4g} against {prices[1]:,.4g}"


def _fastest(rows: Sequence[Solved]) -> Solved | None:
    known = [row for row in rows if row.counted and row.value_ms is not None]
    return min(known, key=lambda row: row.value_ms or 0.0, default=None)


def _all_bounded_above(rows: Sequence[Solved], value_ms: float, *, site: bool) -> bool:
    """Whether no arrangement on one site (or over several) can be faster than a value, as far as it was looked at."""
    rivals = [row for row in rows if (row.candidate.kind == SITE) == site]
    if any(row.reason == NO_TIME for row in rivals):
        return False
    rivals = [row for row in rivals if row.variant is not None]
    return all(row.infeasible or (row.bound_ms is not None and row.bound_ms >= value_ms) for row in rivals)


def _one_alone(rows: Sequence[Solved], several: Solved | None, single: Solved | None) -> Worth:
    """Say what follows where only one of the two has a schedule."""
    known = several or single
    name = "" if known is None else known.candidate.name
    others = [row for row in rows if (row.candidate.kind == SITE) == (single is None) and row.variant is not None]
    unseen = any(row.reason == NO_TIME for row in rows)
    proved = bool(others) and not unseen and all(row.infeasible for row in others)
    what = "no single site" if single is None else "no arrangement over several sites"
    why = "can run this step" if proved else "has a schedule as far as is known"
    verdict = "yes" if several is not None else "no"
    takes = ms(None if known is None else known.value_ms)
    text = f"{verdict.capitalize()}: {what} {why}; `{name}` takes {takes}."
    return _told(verdict, several, single, proved=proved, text=text)


def _told(
    verdict: str, several: Solved | None, single: Solved | None, *, proved: bool, text: str, gain: float | None = None
) -> Worth:
    return Worth.model_validate(
        {
            "verdict": verdict,
            "several": None if several is None else several.candidate.name,
            "single": None if single is None else single.candidate.name,
            "gain": gain,
            "proved": proved,
            "sentence": text,
        }
    )


__all__ = ["Amount", "flip_sentence", "worth_of"]
