"""An answer in at most 25 lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer, DeviceSchedule, FamilyRow

MOST_LINES = 25
CHART_WIDTH = 64
MOST_CHART_ROWS = 8
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
    return "unknown" if value is None else f"{100 * value:.2f} %"


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
    if answer.free_links is not None:
        free = answer.free_links
        rows.append(f"links    free links would give {ms(free.value_ms)}: the network costs {percent(free.cost)}")
    if answer.devices:
        fullest = max(answer.devices, key=_fullness)
        limit = "" if fullest.memory_mb is None else f" of {fullest.memory_mb / 1000:,.1f}"
        rows.append(f"memory   {fullest.peak_memory_mb / 1000:,.1f}{limit} GB on {fullest.device}, the fullest device")
    return rows


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
    return lines


def _chart(answer: Answer, rows: int) -> list[str]:
    shown = [device for device in answer.devices if device.operations is not None and device.replica == 0][:rows]
    if not shown or not answer.makespan_ms:
        return []
    width = max(len(device.device) for device in shown)
    lines = [f"{device.device:<{width}} {_bar(device, answer.makespan_ms)}" for device in shown]
    return [f"{'':<{width}} █ F  ▓ B  ░ W  · idle, 0 to {ms(answer.makespan_ms)}", *lines]


def _bar(device: DeviceSchedule, makespan_ms: float) -> str:
    """Draw what a device does for most of each column's time."""
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
    idle = column_ms - sum(share.values())
    kind = max(share, key=lambda key: share[key], default=None)
    return "·" if kind is None or idle > share[kind] else GLYPHS[kind]
