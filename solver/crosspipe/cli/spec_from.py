"""`crosspipe spec from`: a spec to start from, made of a file that people already have."""

from __future__ import annotations

import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosspipe.cli.files import STDIN, OutPath, plain_errors, write
from crosspipe.cli.starter import starter
from crosspipe.costs.expand import expand
from crosspipe.costs.profiles.deepspeed import deepspeed_profile
from crosspipe.costs.profiles.kinds import KINDS, Kind, kind_of
from crosspipe.costs.profiles.megatron import megatron_profile
from crosspipe.costs.profiles.metis import key_of, metis_profile
from crosspipe.costs.profiles.profile import NO_BOUNDARY
from crosspipe.costs.profiles.reading import file_text, folder_texts, stream_text
from crosspipe.costs.profiles.rows import csv_profile, json_profile, json_tree
from crosspipe.costs.profiles.shares import shares_of
from crosspipe.costs.profiles.text import flow, profile_spec, with_boundary
from crosspipe.errors import Fault, OptionError
from crosspipe.spec.branches import GPT2_NAMES
from crosspipe.spec.faults import closest
from crosspipe.spec.load import parse_spec
from crosspipe.spec.stages import HuggingFaceModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.costs.profiles.profile import Profile
    from crosspipe.costs.profiles.shares import Shares

ProfilePath = Annotated[
    Path,
    typer.Argument(
        metavar="PATH",
        help="A Hugging Face config.json, a folder of Metis profiles, layers as CSV or JSON, or a log of Megatron-LM "
        "or DeepSpeed; - reads stdin.",
    ),
]


def from_command(
    path: ProfilePath,
    kind: Annotated[str | None, typer.Option(help=f"What it is, if not told by itself: {', '.join(KINDS)}.")] = None,
    stages: Annotated[int | None, typer.Option(min=1, max=1000, help="Pipeline stages (devices).")] = None,
    microbatches: Annotated[int | None, typer.Option(min=1, max=10**6, help="Microbatches of a step.")] = None,
    gpu: Annotated[str | None, typer.Option(help="Metis: accelerator.")] = None,
    tensor: Annotated[int | None, typer.Option(min=1, help="Metis: tensor degree.")] = None,
    microbatch: Annotated[int | None, typer.Option(min=1, help="Metis: sequences per microbatch.")] = None,
    shares: Annotated[str, typer.Option(help="F : B : W of times measured together.")] = "3:3:2",
    boundary_mb: Annotated[
        float | None, typer.Option(min=0, help="Message between stages, where none is given.")
    ] = None,
    out: OutPath = None,
) -> None:
    """Print a spec to start from, made of a profile or an architecture; what is assumed or missing goes to stderr."""
    with plain_errors():
        given = shares_of(shares)
        chosen, texts = _read(path, kind)
        name, text = next(iter(texts.items()), ("", ""))
        if chosen == "config":
            write(_of_config(text, name), out)
            return
        if chosen == "metis":
            profile = metis_profile(texts, given, gpu=gpu, tensor=tensor, batch=microbatch)
        else:
            profile = _of_text(chosen, text, name, given, stages=stages, microbatches=microbatches)
        made = _made(profile, path, stages, microbatches, boundary_mb)
        write(made, out)


def _read(path: Path, kind: str | None) -> tuple[Kind, dict[str, str]]:
    """Read the file or the folder; tell what it is."""
    if kind is not None and kind not in KINDS:
        rule = f"must be one of {', '.join(KINDS)}"
        raise OptionError([Fault("--kind", rule, repr(kind[:40]), closest(kind, KINDS))])
    if path != STDIN and path.is_dir():
        if kind not in (None, "metis"):
            raise OptionError([Fault("--kind", f"must be metis for a folder; {KINDS[kind]} is a file", kind, "metis")])
        return "metis", folder_texts(path, lambda name: key_of(name) is not None)
    name, text = ("stdin", stream_text(sys.stdin.buffer, "stdin")) if path == STDIN else (path.name, file_text(path))
    return kind or kind_of(name, text), {name: text}


def _of_text(
    kind: Kind, text: str, name: str, shares: Shares, *, stages: int | None, microbatches: int | None
) -> Profile:
    if kind == "csv":
        return csv_profile(text, name, shares)
    if kind == "json":
        return json_profile(text, name, shares)
    if kind == "megatron":
        return megatron_profile(text, name, stages=stages, microbatches=microbatches)
    return deepspeed_profile(text, name, stages=stages)


def _made(profile: Profile, path: Path, stages: int | None, microbatches: int | None, boundary_mb: float | None) -> str:
    """Write the spec, and beside it what there is to know."""
    missing, model = profile.missing, profile.model
    if boundary_mb is not None:
        missing = tuple(each for each in missing if each != NO_BOUNDARY)
        model = with_boundary(model, Decimal(str(boundary_mb)))
    text = profile_spec(replace(profile, model=model, missing=missing), path.name, microbatches, stages)
    expand(parse_spec(text))
    for word, lines in (("read", profile.told), ("assumed", profile.assumed), ("missing", missing)):
        for line in lines:
            typer.echo(f"{word}: {line}", err=True)
    return text


def _of_config(text: str, name: str) -> str:
    fields = {*HuggingFaceModel.model_fields, *GPT2_NAMES}
    document: Mapping[str, object] = json_tree(text, name)
    return starter(flow({key: value for key, value in document.items() if key in fields}))
