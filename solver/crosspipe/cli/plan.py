"""`crosspipe plan SPEC`: a pipeline across sites, whole pipelines in each, or one site; and where that changes."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.status import Status

from crosspipe.cli.files import INFEASIBLE, NO_SCHEDULE, OutPath, SpecPath, plain_errors, read_spec, write
from crosspipe.cli.interrupt import INTERRUPTED, stop_on_interrupt
from crosspipe.cli.kernels import compile_once
from crosspipe.cli.options import OutputFormat, Seed, Workers
from crosspipe.plans.run import plan
from crosspipe.plans.text import plan_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def plan_command(
    spec: SpecPath,
    time_limit: Annotated[
        float, typer.Option("--time-limit", "-t", help="Seconds for everything together; 0 = construct only.")
    ] = 60.0,
    seed: Seed = 0,
    workers: Workers = None,
    output_format: OutputFormat = "text",
    out: OutPath = None,
) -> None:
    """Compare the ways to lay out one training step: a pipeline across the sites, whole pipelines in each, one site.

    Every arrangement does the same work per step and has a certified schedule. Break-evens say at which bandwidth,
    latency and memory another arrangement becomes the fastest. Ctrl-C gives what is known so far.

    Exit code 0 with a schedule, 3 if no arrangement has one, 4 if none was found in time, 130 after Ctrl-C, 2 on bad
    input.
    """
    with plain_errors():
        parsed = read_spec(spec)
        compile_once(time_limit)
        with _line() as on_solve, stop_on_interrupt() as should_stop:
            found = plan(
                parsed,
                time_limit_s=time_limit,
                seed=seed,
                workers=workers,
                on_solve=on_solve,
                should_stop=should_stop,
            )
            stopped = should_stop()
        write(found.model_dump_json() if output_format == "json" else "\n".join(plan_text(found)), out)
    if stopped:
        raise typer.Exit(INTERRUPTED)
    if all(row.value_ms is None for row in found.arrangements):
        infeasible = all(row.status in ("infeasible", "not_compared") for row in found.arrangements)
        raise typer.Exit(INFEASIBLE if infeasible else NO_SCHEDULE)


@contextmanager
def _line() -> Iterator[Callable[[str], None] | None]:
    """Show on stderr what is being solved; nothing if stderr is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Status("reading the spec", console=console) as status:
        yield lambda what: status.update(f"solving {what}")
