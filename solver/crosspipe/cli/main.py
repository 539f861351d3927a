"""`crosspipe`: the command line."""

from __future__ import annotations

import typer

from crosspipe import __version__
from crosspipe.cli.bound import bound_command
from crosspipe.cli.check import check_command
from crosspipe.cli.compare import compare_command
from crosspipe.cli.estimate import estimate_command
from crosspipe.cli.explain import explain_command
from crosspipe.cli.export import export_command
from crosspipe.cli.plan import plan_command
from crosspipe.cli.serve import serve_command
from crosspipe.cli.solve import solve_command
from crosspipe.cli.spec import spec_app
from crosspipe.cli.sweep import sweep_command
from crosspipe.cli.verify import verify_command

app = typer.Typer(
    help="Certified pipeline-parallel schedules for training across datacenters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("solve")(solve_command)
app.command("compare")(compare_command)
app.command("sweep")(sweep_command)
app.command("estimate")(estimate_command)
app.command("plan")(plan_command)
app.command("explain")(explain_command)
app.command("check")(check_command)
app.command("verify")(verify_command)
app.command("bound")(bound_command)
app.command("export")(export_command)
app.command("serve")(serve_command)
app.add_typer(spec_app, name="spec")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Read the options common to all commands."""
