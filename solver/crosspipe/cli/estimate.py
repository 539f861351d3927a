"""`crosspipe estimate SPEC|MODEL`: what layers and stages cost, and what that rests on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosspipe.answer.estimate import estimate
from crosspipe.answer.estimate_text import estimate_text
from crosspipe.cli.files import STDIN, OutPath, plain_errors, read_spec, write
from crosspipe.cli.options import OutputFormat
from crosspipe.costs.catalogue import model_named
from crosspipe.costs.degrees import AUTO_TENSOR
from crosspipe.costs.source import architecture_in
from crosspipe.spec.branches import CONFIG, model_tag
from crosspipe.spec.load import SPEC_SUFFIXES, parse_spec
from crosspipe.spec.text import read_text
from crosspipe.spec.tree import Pairs

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

MODEL = "A cluster spec, a Hugging Face config.json, - for stdin, or a catalogue name of a model."


def estimate_command(
    what: Annotated[str, typer.Argument(metavar="SPEC|MODEL", help=MODEL)],
    gpu: Annotated[str, typer.Option(help="Of a model alone: the accelerator.")] = "h100-80gb",
    tensor: Annotated[
        int | None, typer.Option(help="Of a model alone: tensor degree [default: 8, 4, 2 or 1, by its heads].")
    ] = None,
    pipeline: Annotated[int, typer.Option(help="Of a model alone: stages.")] = 4,
    data: Annotated[int, typer.Option(help="Of a model alone: copies of the pipeline.")] = 1,
    sequence_length: Annotated[int, typer.Option(help="Of a model alone: tokens per sequence.")] = 4096,
    microbatch: Annotated[int, typer.Option(help="Of a model alone: sequences per microbatch.")] = 1,
    precision: Annotated[str, typer.Option(help="Of a model alone: bf16, fp16, fp8 or fp32.")] = "bf16",
    recompute: Annotated[str, typer.Option(help="Of a model alone: none, selective or full.")] = "none",
    output_format: OutputFormat = "text",
    out: OutPath = None,
) -> None:
    """Estimate times, memory and messages of every item and every stage of the even cut; nothing is scheduled.

    Every assumption is listed with what to write to have it otherwise. With a spec the options of a model alone do not
    count: the spec says all.

    Exit code 0, 2 on bad input.
    """
    with plain_errors():
        model = _model(what)
        if model is None:
            spec = read_spec(Path(what))
        else:
            training: dict[str, object] = {
                "microbatches": pipeline,
                "microbatch": microbatch,
                "sequence_length": sequence_length,
                "precision": precision,
                "recompute": recompute,
            }
            spec = _alone(model, training, gpu, tensor or 1, pipeline, data)
            architecture = architecture_in(spec)
            if tensor is None and architecture is not None:
                fitting = next(degree for degree in AUTO_TENSOR if architecture.heads % degree == 0)
                spec = _alone(model, training, gpu, fitting, pipeline, data)
        found = estimate(spec)
        write(found.model_dump_json() if output_format == "json" else "\n".join(estimate_text(found)), out)


def _alone(model: object, training: dict[str, object], gpu: str, tensor: int, pipeline: int, data: int) -> Spec:
    """Write a spec of one site for a model alone."""
    return parse_spec(
        {
            "model": model,
            "training": training,
            "parallel": {"tensor": tensor, "pipeline": pipeline, "data": data},
            "sites": {"here": {"gpus": tensor * pipeline * data, "gpu": gpu}},
        }
    )


def _model(what: str) -> object:
    """Find the model that is meant, None where it is a spec: a name that is no file's, or the content of a config.

    Raises
    ------
    SpecError
        If it is neither a file nor a name of the catalogue.
    """
    path = Path(what)
    if path == STDIN:
        return None
    if not path.exists() and path.suffix not in SPEC_SUFFIXES:
        return model_named(what, "").name
    with path.open("rb") as file:
        found = read_text(file.read())
    content = dict(found) if isinstance(found, Pairs) else {}
    return found if "sites" not in content and model_tag(content) == CONFIG else None
