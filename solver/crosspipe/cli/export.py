"""`crosspipe export SPEC --format F`: files that other tools act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from crosspipe.answer.restore import restore
from crosspipe.answer.solve import solve
from crosspipe.cli.files import OutPath, SpecPath, plain_errors, read_document, read_spec, write
from crosspipe.cli.live import live_line
from crosspipe.cli.options import ObjectiveName, TimeLimit
from crosspipe.cli.solve import leave
from crosspipe.export.registry import FORMATS, export


def export_command(
    spec: SpecPath,
    export_format: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")],
    schedule: Annotated[Path | None, typer.Option(help="Export this answer (JSON) instead of solving.")] = None,
    time_limit: TimeLimit = 10.0,
    objective: ObjectiveName = "makespan",
    out: OutPath = None,
) -> None:
    """Write a schedule in a format that another tool acts on.

    A format with a second file (the torch CSV has a rank-to-site map) writes it beside `--out`, or to stderr without.
    """
    with plain_errors():
        parsed = read_spec(spec)
        if schedule is None:
            with live_line() as on_progress:
                answer = solve(parsed, time_limit_s=time_limit, objective=objective, on_progress=on_progress)
            leave(answer)
            document: object = answer.model_dump()
        else:
            document = read_document(schedule)
        problem, timetable = restore(parsed, document)
        exported = export(export_format, problem, timetable)
        write(exported.text, out)
        if exported.sidecar is not None:
            text = json.dumps(exported.sidecar, indent=2)
            if out is None:
                typer.echo(text, err=True)
            else:
                out.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
