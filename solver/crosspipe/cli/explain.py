"""`crosspipe explain SPEC [ANSWER]`: why a schedule takes as long as it does, and why the model is cut as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosspipe.accounts.run import explain
from crosspipe.accounts.text import account_text
from crosspipe.answer.solve import solve
from crosspipe.cli.files import (
    INFEASIBLE,
    NO_SCHEDULE,
    OutPath,
    SpecPath,
    plain_errors,
    read_document,
    read_spec,
    write,
)
from crosspipe.cli.interrupt import stop_on_interrupt
from crosspipe.cli.kernels import compile_once
from crosspipe.cli.live import live_line
from crosspipe.cli.options import ObjectiveName, OutputFormat, TimeLimit
from crosspipe.errors import Fault, ScheduleFormatError

AnswerPath = Annotated[
    Path | None,
    typer.Argument(metavar="ANSWER", help="An answer with its operations (JSON); left out, the spec is solved first."),
]


def explain_command(
    spec: SpecPath,
    answer: AnswerPath = None,
    time_limit: TimeLimit = 10.0,
    objective: ObjectiveName = "makespan",
    output_format: OutputFormat = "text",
    out: OutPath = None,
) -> None:
    """Say where the time of a schedule goes, what would help, and why the model is cut as it is.

    The critical path, the bottleneck, what every device waits for, what less latency, more bandwidth or more memory
    would give, and what becomes of the cut if one layer moves. `--time-limit` is that of the solve, and again of what
    is compared.

    Exit code 0 with a schedule, 3 if none exists, 4 if the answer has none, 2 on bad input.
    """
    with plain_errors():
        parsed = read_spec(spec)
        if answer is None:
            compile_once(time_limit)
            with live_line() as on_progress, stop_on_interrupt() as should_stop:
                solved = solve(
                    parsed,
                    time_limit_s=time_limit,
                    objective=objective,
                    on_progress=on_progress,
                    should_stop=should_stop,
                )
            account = explain(parsed, solved, time_limit_s=time_limit)
        else:
            document = read_document(answer)
            if not isinstance(document, dict):
                raise ScheduleFormatError([Fault("", "must be an answer", type(document).__name__)])
            account = explain(parsed, document, time_limit_s=time_limit)
        write(account.model_dump_json() if output_format == "json" else "\n".join(account_text(account)), out)
    if account.makespan_ms is None:
        raise typer.Exit(INFEASIBLE if account.status == "infeasible" else NO_SCHEDULE)
