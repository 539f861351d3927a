"""`crosspipe verify SPEC ANSWER`: derive the bound of an answer again, without the solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosspipe.answer.results import VerifyResult
from crosspipe.answer.summary import ms
from crosspipe.answer.verify import verify
from crosspipe.certificate.verdict import MOST_WORK
from crosspipe.cli.files import SpecPath, plain_errors, read_document, read_spec
from crosspipe.cli.options import OutputFormat

AnswerPath = Annotated[
    Path, typer.Argument(metavar="ANSWER", help="An answer (JSON, detail orders or full), or what bound prints.")
]
NOT_VERIFIED = 1


def verify_command(
    spec: SpecPath,
    answer: AnswerPath,
    effort: Annotated[
        float, typer.Option("--effort", min=0.0, help="Times the usual work that deriving may take.")
    ] = 1,
    output_format: OutputFormat = "text",
) -> None:
    """Derive the lower bound of an answer again from its certificate, without the solver, and check its schedule.

    Exit code 0 if its bound was derived and its schedule keeps every rule at its value, 1 if not, 2 on bad input.
    """
    with plain_errors():
        result = verify(read_spec(spec), read_document(answer), int(min(effort, 10**6) * MOST_WORK))
    if output_format == "json":
        typer.echo(result.model_dump_json())
    else:
        typer.echo(_text(result))
    if not result.ok:
        raise typer.Exit(NOT_VERIFIED)


def _text(result: VerifyResult) -> str:
    schedule = "" if result.value_ms is None else f"; the schedule keeps every rule and takes {ms(result.value_ms)}"
    if result.outcome == "verified":
        if result.bound_ms is None:
            return f"VERIFIED: {result.reason}"
        optimal = " (optimal)" if result.value_ms == result.bound_ms else ""
        return f"VERIFIED{optimal}: no schedule can beat {ms(result.bound_ms)} ({result.reason}){schedule}"
    if result.outcome == "solver alone":
        if result.bound_ms is None:
            return f"NOT VERIFIED: {result.reason}"
        derived = "none" if result.derived_ms is None else ms(result.derived_ms)
        return f"NOT VERIFIED: bound {ms(result.bound_ms)} by the solver alone; re-derived bound: {derived}{schedule}"
    return f"REFUSED: {result.reason}"
