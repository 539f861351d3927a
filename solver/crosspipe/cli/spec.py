"""`crosspipe spec ...`: schema, validation, the expansion with every assumption, a spec to start from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from crosspipe.answer.notes import routed
from crosspipe.cli.files import OutPath, SpecPath, plain_errors, read_spec, write
from crosspipe.cli.spec_from import from_command
from crosspipe.cli.starter import starter
from crosspipe.costs.expand import expand
from crosspipe.costs.regions_text import regions_text
from crosspipe.costs.text import expanded_text
from crosspipe.errors import SpecError, TooLargeError
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.notices import spec_notices, told_once
from crosspipe.spec.schema import spec_schema

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

spec_app = typer.Typer(
    help="Work on cluster specs: schema, validate, explain, init, from, regions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@spec_app.command("schema")
def schema_command(out: OutPath = None) -> None:
    """Print the JSON Schema of cluster specs."""
    with plain_errors():
        write(json.dumps(spec_schema(), indent=2), out)


@spec_app.command("validate")
def validate_command(spec: SpecPath) -> None:
    """Check that a spec is well formed and compiles; print its digest and any warnings."""
    with plain_errors():
        parsed = read_spec(spec)
        digest = spec_digest(parsed)
        expansion = expand(parsed)
        problems = compile_spec(expansion.spec, digest)
    typer.echo(f"valid: {digest}")
    for problem in problems:
        typer.echo(
            f"{problem.traversal}: {len(problem.stages)} stages on {problem.devices_per_replica} devices,"
            f" {problem.microbatches} microbatches, {len(problem.operations)} operations"
        )
    for notice in told_once([*spec_notices(parsed), *expansion.notices]):
        typer.echo(f"warning {notice.pointer}: {notice.message}")


@spec_app.command("explain")
def explain_command(spec: SpecPath, out: OutPath = None) -> None:
    """Print the spec expanded to measured stages, with every assumption beside it."""
    with plain_errors():
        parsed = read_spec(spec)
        expansion = expand(parsed)
        write(expanded_text(expansion) + _routes(expansion.spec, spec_digest(parsed)), out)


def _routes(expanded: Spec, digest: str) -> str:
    """Write comments that name the messages which take several links, and these; none for what does not compile."""
    try:
        problems = compile_spec(expanded, digest)
    except (SpecError, TooLargeError):  # `validate` tells of it; the expansion shows what it comes from
        return ""
    found = dict.fromkeys(text for problem in problems for text in routed(problem))
    return "".join(f"# route of {text}\n" for text in found)


@spec_app.command("init")
def init_command(
    model: Annotated[str, typer.Option(help="Catalogue name of the model.")] = "llama-3-70b", out: OutPath = None
) -> None:
    """Print a two-site spec to start from."""
    with plain_errors():
        write(starter(model), out)


spec_app.command("from")(from_command)


@spec_app.command("regions")
def regions_command(
    name: Annotated[str | None, typer.Argument(help="Show only pairs with this in a region's name.")] = None,
    out: OutPath = None,
) -> None:
    """List the pairs of cloud regions whose latency is known, for `regions` of links."""
    with plain_errors():
        write(regions_text(name), out)
