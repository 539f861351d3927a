"""An answer in at most 25 lines of text."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

from crosspipe.answer.notes import CHOSEN

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer, DeviceSchedule, FamilyRow, FreeLinks, ReplicaMessages, SecondTerms

MOST_LINES = 25
CHART_WIDTH = 64
MOST_CHART_ROWS = 8
LONGEST_LINE = 100
"""Columns that the list of layers may fill."""
GLYPHS = {"F": "█", "B": "▓", "BW": "▓", "W": "░"}


def summary(answer: Answer) -> list[str]:
    """Write the answer for a terminal: what was found, what is proved, who is beaten, where the time goes."""
    if answer.explanation is not None:
        return _infeasible(answer)
    lines = [_headline(answer), *_figures(answer)]
    lines += [f"warning  {notice.pointer}: {notice.message}" for notice in answer.warnings[:3]]
    room = MOST_LINES - len(lines) - 1
    return lines + _chart(answer, min(room, MOST_CHART_ROWS))


def ms(value: float | None) -> str:
    """Write milliseconds for people."""
    return "unknown" if value is None else f"{value:,.1f} ms"


def percent(value: float | None) -> str:
    """Write a share for people."""
    return "unknown" if value is None else f"{100 * value:,.2f} %"


def best_family(answer: Answer) -> FamilyRow | None:
    """Row of the best known schedule that fits, whichever placement it is on."""
    rows = [row for row in answer.families if row.name == answer.best_family and row.value_ms is not None]
    return min(rows, key=lambda row: row.value_ms or 0.0, default=None)


def _headline(answer: Answer) -> str:
    objective = answer.objective
    text = f"{answer.status.upper():<8} {objective.name} {ms(objective.value_ms)}"
    if objective.value_ms is None:
        text = f"{answer.status.upper():<8} no schedule was found"
        text += "" if objective.lower_bound_ms is None else f"; none can beat {ms(objective.lower_bound_ms)}"
    elif objective.lower_bound_ms is not None and answer.status != "optimal":
        text += f", no schedule can beat {ms(objective.lower_bound_ms)} (gap {percent(objective.gap)})"
    return text + f"   [{answer.stop_reason}, {answer.provenance.seconds:.1f} s]"


def _figures(answer: Answer) -> list[str]:
    rows = []
    if answer.objective.bound_from is not None:
        rows.append(f"bound    {answer.objective.bound_from}")
    if answer.bubble_ratio is not None:
        rows.append(f"bubble   {percent(answer.bubble_ratio)} of device time is idle ({answer.traversal} traversal)")
    if answer.tokens_per_second is not None:
        rows.append(f"tokens   {answer.tokens_per_second:,.0f} per second")
    if (best := best_family(answer)) is not None:
        gain = percent(answer.gain_over_best_family)
        rows.append(f"against  {best.name} {ms(best.value_ms)}, the best known schedule that fits: {gain} less")
    elif answer.families and answer.devices:
        rows.append("against  no known schedule: none fits")
    if answer.free_links is not None:
        rows.append(_network(answer, answer.free_links))
    if answer.replica_messages is not None:
        rows.append(_turns(answer.replica_messages))
    between = [hop for hop in answer.hops if hop.link is not None and hop.transfer_ms + hop.latency_ms > 0]
    if answer.devices and between:
        worst = max(between, key=lambda hop: hop.transfer_ms + hop.latency_ms)
        rows.append(
            f"message  {ms(worst.transfer_ms)} on {worst.link}, then {ms(worst.latency_ms)} in flight: the slowest"
        )
    if answer.worst_phases:
        longest = max(answer.worst_phases, key=lambda row: row.reserved_ms)
        rows.append(
            f"clock    {ms(longest.transfer_ms)} on {longest.lane} reserve {ms(longest.reserved_ms)}, as in the worst "
            f"phase, {ms(longest.phase_ms)} into the period of {ms(longest.period_ms)}"
        )
    if (placed := _placed(answer)) is not None:
        rows.append(placed)
    if answer.devices:
        fullest = max(answer.devices, key=_fullness)
        limit = "" if fullest.memory_mb is None else f" of {fullest.memory_mb / 1000:,.1f}"
        again = len(answer.recomputed_stages)
        more = f"; {again} of {len(answer.assignment)} stages recompute" if again else ""
        peak = f"{fullest.peak_memory_mb / 1000:,.1f}{limit} GB"
        rows.append(f"memory   {peak} on {fullest.device}, the fullest device{more}")
    if answer.second_terms is not None:
        rows.append(_second_terms(answer.second_terms))
    return rows


def _second_terms(terms: SecondTerms) -> str:
    """Say what was made small after the objective, and how small it could be at most."""
    share, flight = terms.peak_share, terms.in_flight_time
    text = f"activations held {ms(flight.value_ms)} in all"
    text += ", the least of all schedules" if flight.proved else ""
    if share is not None:
        least = ", the least for this value" if share.proved else ""
        if not share.proved and share.lower_bound is not None:
            least = f" (no schedule of this value below {percent(share.lower_bound)})"
        text = f"{percent(share.share)} of the fullest device's memory{least}; {text}"
    return f"second   {text}"


def _network(answer: Answer, free: FreeLinks) -> str:
    """Say what free links would give: the value is one that they reach, not always the best they could."""
    exact = free.value_ms == free.lower_bound_ms
    value = ms(free.value_ms) + ("" if exact else " or less")
    more = " so far" if answer.status != "optimal" else "" if exact else " or more"
    return f"links    free links would give {value}: the network costs {percent(free.cost)}{more}"


def _turns(told: ReplicaMessages) -> str:
    """Say how the replicas' messages share a link best, as far as is known."""
    if told.better == "equal":
        return f"replicas messages merged or taking turns: {ms(told.merged_ms)} either way"
    names = {"merged": "merged", "separate": "taking turns"}
    other = "separate" if told.better == "merged" else "merged"
    values = {"merged": told.merged_ms, "separate": told.separate_ms}
    known = "" if told.proved else " as far as is known"
    text = f"replicas messages {names[told.better]} {ms(values[told.better])}, {names[other]} {ms(values[other])}"
    return f"{text}: {percent(told.gain)} less{known}"


def _placed(answer: Answer) -> str | None:
    """Say what was cut and copied; nothing where the spec itself lists the stages of a single pipeline."""
    replicas = answer.replicas * answer.replicas_merged
    layers = [stage.layers for stage in answer.assignment if stage.layers is not None]
    if not answer.devices or (not layers and replicas == 1):
        return None
    per_replica = len(answer.devices) // answer.replicas
    text = f"placed   {counted(len(answer.assignment), 'stage')} on {counted(per_replica, 'device')}"
    text += f", {replicas} replicas" if replicas > 1 else ""
    listed = " | ".join(layers)
    return text if not layers else f"{text}: {shorten(listed, LONGEST_LINE - len(text), placeholder=' ...')}"


def counted(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _fullness(device: DeviceSchedule) -> tuple[float, float]:
    """Share of the memory used, then the amount, which alone counts where there is no limit."""
    share = device.peak_memory_mb / device.memory_mb if device.memory_mb else 0.0
    return share, device.peak_memory_mb


def _infeasible(answer: Answer) -> list[str]:
    lines = ["INFEASIBLE: no schedule exists"]
    reasons = [] if answer.explanation is None else answer.explanation.reasons
    lines += [f"- {reason.message}" for reason in reasons[: MOST_LINES - 3]]
    if not reasons and answer.explanation is not None:
        lines.append(answer.explanation.summary)
    return lines + [note for note in answer.notes if note.startswith(CHOSEN)]


def _chart(answer: Answer, rows: int) -> list[str]:
    shown = [device for device in answer.devices if device.operations is not None and device.replica == 0][:rows]
    if not shown or not answer.makespan_ms:
        return []
    width = max(len(device.device) for device in shown)
    lines = [f"{device.device:<{width}} {_bar(device, answer.makespan_ms)}" for device in shown]
    kinds = {kind for device in shown if device.operations is not None for kind in device.operations.kind}
    backward = " or ".join(kind for kind in ("B", "BW") if kind in kinds) or "B"
    return [f"{'':<{width}} █ F  ▓ {backward}  ░ W  · idle, 0 to {ms(answer.makespan_ms)}", *lines]


def _bar(device: DeviceSchedule, makespan_ms: float) -> str:
    """Draw, for each column's time, what a device does most if it is busy for a quarter of it, else that it is idle."""
    if device.operations is None:
        return ""
    column_ms = makespan_ms / CHART_WIDTH
    shares: list[dict[str, float]] = [{} for _ in range(CHART_WIDTH)]
    columns = device.operations
    for kind, start, end in zip(columns.kind, columns.start_ms, columns.end_ms, strict=True):
        for place in range(int(start / column_ms), min(int(end / column_ms), CHART_WIDTH - 1) + 1):
            overlap = min(end, (place + 1) * column_ms) - max(start, place * column_ms)
            shares[place][kind] = shares[place].get(kind, 0.0) + overlap
    return "".join(_glyph(share, column_ms) for share in shares)


def _glyph(share: dict[str, float], column_ms: float) -> str:
    kind = max(share, key=lambda key: share[key], default=None)
    return "·" if kind is None or sum(share.values()) < column_ms / 4 else GLYPHS[kind]
