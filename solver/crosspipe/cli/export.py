"""`crosspipe export SPEC --format F`: files that other tools act on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosspipe.answer.restore import restore
from crosspipe.answer.solve import solve
from crosspipe.answer.summary import summary
from crosspipe.cli.files import OutPath, SpecPath, plain_errors, read_document, read_spec, write
from crosspipe.cli.interrupt import INTERRUPTED, stop_on_interrupt
from crosspipe.cli.kernels import compile_once
from crosspipe.cli.live import live_line
from crosspipe.cli.options import ObjectiveName, TimeLimit
from crosspipe.cli.solve import leave
from crosspipe.export.headline import headline
from crosspipe.export.registry import FORMATS, export, format_named
from crosspipe.export.svg import Caption


def export_command(
    spec: SpecPath,
    export_format: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")],
    schedule: Annotated[Path | None, typer.Option(help="Export this answer (JSON) instead of solving.")] = None,
    time_limit: TimeLimit = 10.0,
    objective: ObjectiveName = "makespan",
    out: OutPath = None,
) -> None:
    """Write a schedule in a format that another tool acts on.

    A format of several files (the torch CSV has a rank-to-site map) writes the others beside `--out`, or to stderr.
    """
    with plain_errors():
        format_named(export_format)
        parsed = read_spec(spec)
        stopped = False
        if schedule is None:
            compile_once(time_limit)
            with live_line() as on_progress, stop_on_interrupt() as should_stop:
                answer = solve(
                    parsed,
                    time_limit_s=time_limit,
                    objective=objective,
                    on_progress=on_progress,
                    should_stop=should_stop,
                )
            if not answer.devices:
                typer.echo("\n".join(summary(answer)), err=True)
                leave(answer)
            document: object = answer.model_dump()
            caption = headline(answer, parsed.name)
            stopped = answer.stop_reason == "stopped"
        else:
            document = read_document(schedule)
            caption = Caption(parsed.name or schedule.name)
        first, *beside = export(export_format, *restore(parsed, document), caption)
        write(first.text, out)
        for file in beside:
            if out is None:
                typer.echo(file.text, err=True, nl=False)
            else:
                write(file.text, out.with_suffix(file.suffix))
    if stopped:
        raise typer.Exit(INTERRUPTED)
