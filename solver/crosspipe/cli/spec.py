"""`crosspipe spec ...`: schema, validation, the expansion with every assumption, a spec to start from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import yaml

from crosspipe.answer.notes import routed
from crosspipe.cli.files import OutPath, SpecPath, plain_errors, read_document, read_spec, write
from crosspipe.costs.expand import expand
from crosspipe.costs.regions_text import regions_text
from crosspipe.costs.text import expanded_text
from crosspipe.errors import SpecError, TooLargeError
from crosspipe.problem.compile import compile_spec
from crosspipe.spec.branches import GPT2_NAMES
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.notices import spec_notices, told_once
from crosspipe.spec.schema import spec_schema
from crosspipe.spec.stages import HuggingFaceModel

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

spec_app = typer.Typer(
    help="Work on cluster specs: schema, validate, explain, init, from, regions.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

STARTER = """\
# A cluster spec: what trains, on which sites, joined by which links. `crosspipe spec explain` shows every default.
model: {model}
training: {{global_batch: 512, microbatch: 1, sequence_length: 4096}}
parallel: {{tensor: {tensor}, pipeline: 8, data: {data}}}     # what is left out is chosen
sites:
  east: {{gpus: 512, gpu: h100-80gb}}
  west: {{gpus: 512, gpu: h100-80gb}}
links:
  - {{between: [east, west], bandwidth_gbps: 400, one_way_latency_ms: 15}}     # gigabits per second; not the round trip
"""


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
        write(_starter(model), out)


@spec_app.command("from")
def from_command(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A Hugging Face config.json of a decoder.")],
    out: OutPath = None,
) -> None:
    """Print a two-site spec to start from, for the architecture in a config.json."""
    with plain_errors():
        document = read_document(config)
        fields = {*HuggingFaceModel.model_fields, *GPT2_NAMES}
        known = {key: value for key, value in document.items() if key in fields} if isinstance(document, dict) else {}
        write(_starter(yaml.safe_dump(known, default_flow_style=True, sort_keys=False, width=10**6).strip()), out)


@spec_app.command("regions")
def regions_command(
    name: Annotated[str | None, typer.Argument(help="Show only pairs with this in a region's name.")] = None,
    out: OutPath = None,
) -> None:
    """List the pairs of cloud regions whose latency is known, for `regions` of links."""
    with plain_errors():
        write(regions_text(name), out)


def _starter(model: str) -> str:
    """Write a spec to start from, with the largest tensor degree that the model's heads allow.

    Raises
    ------
    SpecError
        If there is none.
    """
    refused: SpecError | None = None
    for tensor in (8, 4, 2, 1):
        text = STARTER.format(model=model, tensor=tensor, data=128 // tensor)
        try:
            expand(parse_spec(text))
        except SpecError as error:
            refused = refused or error
        else:
            return text
    raise refused or SpecError([])
