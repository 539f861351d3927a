"""`crosspipe bound SPEC`: what no schedule can beat, at once."""

from __future__ import annotations

from typing import Annotated

import typer

from crosspipe.answer.bound import bound
from crosspipe.answer.summary import ms
from crosspipe.cli.files import INFEASIBLE, SpecPath, plain_errors, read_spec
from crosspipe.cli.options import ObjectiveName, OutputFormat


def bound_command(
    spec: SpecPath,
    objective: ObjectiveName = "makespan",
    time_limit: Annotated[
        float, typer.Option("--time-limit", "-t", min=0.0, help="Seconds per placement; 0 = closed arguments only.")
    ] = 0.1,
    output_format: OutputFormat = "text",
) -> None:
    """Say what no schedule of a cluster spec can beat, and which device, lane or chain says so.

    No schedule is looked for. Exit code 0, 2 on bad input, 3 if no schedule exists.
    """
    with plain_errors():
        result = bound(read_spec(spec), objective=objective, time_limit_s=time_limit)
    if output_format == "json":
        typer.echo(result.model_dump_json())
    elif result.infeasible:
        typer.echo(f"INFEASIBLE: {result.explanation}")
    else:
        typer.echo(f"no schedule can beat {ms(result.bound_ms)} ({result.traversal}: {result.name}, {result.where})")
    if result.infeasible:
        raise typer.Exit(INFEASIBLE)
