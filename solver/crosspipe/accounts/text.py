"""An account in at most 25 lines of text."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING

from crosspipe.answer.summary import MOST_LINES, counted, ms, percent
from crosspipe.answer.units import to_ms, to_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crosspipe.accounts.models import Account, CutAccount, DeviceAccount, Help, PathPart

MOST_DEVICES = 8
MOST_MOVES = 5
MOST_WAITS = 4
LONGEST_LINE = 150

WAITS = {
    "warm_up": "warm-up",
    "memory": "room",
    "latency": "latency of",
    "transfer": "transfer on",
    "queue": "queue of",
    "closed": "closed",
    "upstream": "work of",
    "extra": "extra operation",
    "cool_down": "cool-down",
    "delay": "delay",
}


def account_text(account: Account) -> list[str]:
    """Write an account for a terminal: path, bottleneck, waits, what would help, the cut."""
    if account.makespan_ms is None:
        return _without_schedule(account)
    lines = [_headline(account), _path(account.path_parts), _bottleneck(account)]
    lines += [f"help     {_help(row)}" for row in account.helps]
    cut = [] if account.cut is None else _cut(account.cut)
    notes = [f"note     {note}" for note in account.notes]
    room = MOST_LINES - len(lines) - len(cut) - len(notes)
    return lines + _waits(account.devices, min(room, MOST_DEVICES + 1)) + cut + notes


def _headline(account: Account) -> str:
    text = f"{account.status.upper():<8} {account.objective} {ms(account.value_ms)}"
    if account.status != "optimal":
        text += f", no schedule can beat {ms(account.lower_bound_ms)}"
    return f"{text} ({account.bound_from})"


def _path(parts: Sequence[PathPart]) -> str:
    """Sum the path: compute by kind, then what messages cost by link."""
    compute: dict[str, int] = {}
    for part in parts:
        if part.kind in ("F", "B", "W", "BW"):
            compute[part.kind] = compute.get(part.kind, 0) + to_ns(part.ms)
    texts = [f"{kind} {ms(to_ms(compute[kind]))}" for kind in ("F", "B", "BW", "W") if kind in compute]
    rest = [part for part in parts if part.kind not in compute]
    texts += [f"{part.kind} {ms(part.ms)}{f' on {part.where}' if part.where else ''}" for part in rest[:MOST_WAITS]]
    if more := rest[MOST_WAITS:]:
        texts.append(f"other {ms(to_ms(sum(to_ns(part.ms) for part in more)))}")
    return f"path     {' + '.join(texts)}"


def _bottleneck(account: Account) -> str:
    first = account.loads[0]
    like = [load for load in account.loads if load.busy_ms == first.busy_ms]
    others = "" if len(like) == 1 else f" (as much as {counted(len(like) - 1, 'other')})"
    of_bound = "" if first.share_of_bound is None else f", {percent(first.share_of_bound)} of the bound"
    lanes = [load for load in account.loads if load.kind == "lane"]
    text = f"busiest  {first.resource}{others} {ms(first.busy_ms)}: {percent(first.share)} of the step{of_bound}"
    return text if not lanes else f"{text}; busiest lane {lanes[0].resource} {percent(lanes[0].share)}"


def _help(row: Help) -> str:
    names = {
        "latency": "no latency between sites",
        "bandwidth": "transfers between sites in no time",
        "memory": "unlimited memory",
    }
    exact = row.value_ms == row.lower_bound_ms
    text = f"{names[row.what]}: {ms(row.value_ms)}" + ("" if exact else f" or less, at least {ms(row.lower_bound_ms)}")
    return f"{text} ({percent(row.gain)} less{'' if exact else ' or more'}); {row.evidence}"


def _waits(devices: Sequence[DeviceAccount], room: int) -> list[str]:
    if room < 1:
        return []
    kept = devices if len(devices) <= room else devices[: room - 1]
    several = len({device.replica for device in devices}) > 1
    lines = [f"idle     {shorten(f'{_name(device, several)} {_idle(device)}', LONGEST_LINE)}" for device in kept]
    hidden = len(devices) - len(kept)
    return [*lines, f"idle     ... and {counted(hidden, 'device')} more in --format json"] if hidden else lines


def _name(device: DeviceAccount, several: bool) -> str:
    return f"{device.device} (replica {device.replica})" if several else device.device


def _idle(device: DeviceAccount) -> str:
    parts = [f"{WAITS[part.kind]}{f' {part.where}' if part.where else ''} {ms(part.ms)}" for part in device.idle]
    return f"{ms(device.idle_ms)}: {', '.join(parts[:MOST_WAITS])}{', ...' if len(parts) > MOST_WAITS else ''}"


def _cut(cut: CutAccount) -> list[str]:
    layers = " | ".join(str(count) for count in cut.layers)
    lines = [f"cut      {layers}: stage {cut.bottleneck_stage} has most to do, {ms(cut.bottleneck_ms)}"]
    next_to = [move for move in cut.moves if cut.bottleneck_stage in (move.from_stage, move.to_stage)]
    if cut.runner_up is not None:
        next_to = [cut.runner_up, *(move for move in next_to if move != cut.runner_up)]
    for move in next_to[:MOST_MOVES]:
        lines.append(f"cut      {move.layer} to stage {move.to_stage}: {move.verdict.replace('_', ' ')}: {move.reason}")
    hidden = len(cut.moves) - min(len(next_to), MOST_MOVES)
    return [*lines, f"cut      {_counted_by_verdict(cut)}"] if hidden else lines


def _counted_by_verdict(cut: CutAccount) -> str:
    verdicts = [move.verdict.replace("_", " ") for move in cut.moves]
    counts: Iterable[str] = (f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))
    return f"of {counted(len(verdicts), 'move')} of one layer: {', '.join(counts)}"


def _without_schedule(account: Account) -> list[str]:
    lines = [f"{account.status.upper()}: {'no schedule exists' if account.explanation else 'no schedule was found'}"]
    if account.explanation is None:
        return lines
    reasons = [f"- {reason.message}" for reason in account.explanation.reasons[: MOST_LINES - 1]]
    return lines + (reasons or [account.explanation.summary])


__all__ = ["account_text"]
