"""`crosspipe check SPEC SCHEDULE`: the independent checker on any schedule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosspipe.answer.solve import check
from crosspipe.answer.summary import ms
from crosspipe.cli.files import SpecPath, plain_errors, read_document, read_spec
from crosspipe.cli.options import OutputFormat

SchedulePath = Annotated[
    Path, typer.Argument(metavar="SCHEDULE", help="An answer, or a list of operations with times (JSON).")
]
BROKEN = 1
MOST_SHOWN = 20


def check_command(
    spec: SpecPath,
    schedule: SchedulePath,
    output_format: OutputFormat = "text",
) -> None:
    """Check a schedule against a cluster spec, whoever made it.

    Exit code 0 if it keeps every rule, 1 if it breaks any, 2 on bad input.
    """
    with plain_errors():
        result = check(read_spec(spec), read_document(schedule))
    if output_format == "json":
        typer.echo(result.model_dump_json())
    elif result.ok:
        typer.echo(f"OK: keeps every rule; makespan {ms(result.makespan_ms)}, span {ms(result.span_ms)}")
    else:
        count = len(result.violations)
        typer.echo(f"BROKEN: {count} violation{'' if count == 1 else 's'}")
        for violation in result.violations[:MOST_SHOWN]:
            typer.echo(f"- {violation.kind}: {violation.message}")
        if count > MOST_SHOWN:
            typer.echo(f"  and {count - MOST_SHOWN} more (--format json lists them all)")
    if not result.ok:
        raise typer.Exit(BROKEN)
