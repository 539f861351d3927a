"""`crosspipe compare SPEC`: the known schedules side by side, and what the search makes of the same cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from crosspipe.answer.solve import solve
from crosspipe.answer.summary import ms, percent, summary
from crosspipe.cli.files import SpecPath, plain_errors, read_spec, write
from crosspipe.cli.interrupt import stop_on_interrupt
from crosspipe.cli.kernels import compile_once
from crosspipe.cli.live import live_line
from crosspipe.cli.options import ObjectiveName, OutputFormat, TimeLimit
from crosspipe.cli.solve import leave

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer

WIDE = 120
"""Columns of the table in a file or a pipe."""


def compare_command(
    spec: SpecPath,
    time_limit: TimeLimit = 10.0,
    objective: ObjectiveName = "makespan",
    output_format: OutputFormat = "text",
) -> None:
    """Compare the known schedules on a cluster spec with the best one found.

    `--time-limit 0` compares the known schedules and the greedy alone.
    """
    with plain_errors():
        parsed = read_spec(spec)
        compile_once(time_limit)
        with live_line() as on_progress, stop_on_interrupt() as should_stop:
            answer = solve(
                parsed,
                time_limit_s=time_limit,
                objective=objective,
                detail="summary",
                on_progress=on_progress,
                should_stop=should_stop,
            )
    if output_format == "json":
        write(answer.model_dump_json(), None)
    elif answer.explanation is not None:
        write("\n".join(summary(answer)), None)
    else:
        console = Console()
        (console if console.is_terminal else Console(width=WIDE)).print(_table(answer))
        write("\n".join([summary(answer)[0], *_reasons(answer)]), None)
    leave(answer)


def _table(answer: Answer) -> Table:
    value = answer.objective.value_ms
    table = Table("schedule", "traversal", answer.objective.name, "over best", "peak memory")
    for row in sorted(answer.families, key=lambda row: (not row.fits, row.value_ms or float("inf"))):
        over = percent(row.value_ms / value - 1) if row.fits and row.value_ms and value else ""
        table.add_row(
            row.name, row.traversal, "" if row.value_ms is None else ms(row.value_ms), over, _gb(row.peak_memory_mb)
        )
    table.add_section()
    peak = max((device.peak_memory_mb for device in answer.devices), default=None)
    table.add_row("best found", answer.traversal or "", ms(value), "", _gb(peak), style="bold")
    return table


def _gb(megabytes: float | None) -> str:
    return "" if megabytes is None else f"{megabytes / 1000:,.1f} GB"


def _reasons(answer: Answer) -> list[str]:
    """Say why schedules have no value, those with one reason in one line."""
    names: dict[str, list[str]] = {}
    several = len({row.traversal for row in answer.families}) > 1
    for row in answer.families:
        if row.reason is not None:
            names.setdefault(row.reason, []).append(f"{row.name} ({row.traversal})" if several else row.name)
    return [f"no {', '.join(found)}: {reason}" for reason, found in names.items()]
