"""`crosspipe solve SPEC`: the best schedule within a time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from crosspipe.answer.solve import solve
from crosspipe.answer.summary import summary
from crosspipe.cli.files import INFEASIBLE, NO_SCHEDULE, OutPath, SpecPath, plain_errors, read_spec, write
from crosspipe.cli.interrupt import INTERRUPTED, stop_on_interrupt
from crosspipe.cli.kernels import compile_once
from crosspipe.cli.live import live_line
from crosspipe.cli.options import (
    DetailLevel,
    Deterministic,
    ObjectiveName,
    OutputFormat,
    RelativeGap,
    Seed,
    TimeLimit,
    Workers,
)

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer


def solve_command(
    spec: SpecPath,
    time_limit: TimeLimit = 10.0,
    objective: ObjectiveName = "makespan",
    gap: RelativeGap = 0.0,
    seed: Seed = 0,
    workers: Workers = None,
    deterministic: Deterministic = False,
    output_format: OutputFormat = "text",
    detail: DetailLevel = "orders",
    out: OutPath = None,
) -> None:
    """Find the best schedule of a cluster spec, with a proven bound.

    Ctrl-C ends the search and gives the best so far.

    Exit code 0 with a schedule, 3 if none exists, 4 if none was found in time, 130 after Ctrl-C, 2 on bad input.
    """
    with plain_errors():
        parsed = read_spec(spec)
        compile_once(time_limit)
        with live_line() as on_progress, stop_on_interrupt() as should_stop:
            answer = solve(
                parsed,
                time_limit_s=time_limit,
                objective=objective,
                relative_gap=gap,
                seed=seed,
                workers=workers,
                deterministic=deterministic,
                detail=detail if output_format == "json" else "orders",
                on_progress=on_progress,
                should_stop=should_stop,
            )
        write(answer.model_dump_json() if output_format == "json" else "\n".join(summary(answer)), out)
    leave(answer)


def leave(answer: Answer) -> None:
    """End with the exit code that the answer calls for.

    Raises
    ------
    typer.Exit
        With 3 for infeasible, 4 for unknown, 130 where Ctrl-C stopped the search.
    """
    if answer.stop_reason == "stopped":
        raise typer.Exit(INTERRUPTED)
    if answer.status == "infeasible":
        raise typer.Exit(INFEASIBLE)
    if answer.status == "unknown":
        raise typer.Exit(NO_SCHEDULE)
