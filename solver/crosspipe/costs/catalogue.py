"""What CrossPipe knows by name: models and accelerators, read from the data files beside this module."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from crosspipe.costs.architecture import Architecture
from crosspipe.costs.experts import Experts
from crosspipe.costs.latent import LatentAttention
from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NAMED = 3
"""Nearest names told of an unknown one."""


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One kind of accelerator.

    Attributes
    ----------
    name
        Its name in the catalogue.
    dense_bf16_tflops
        Peak without sparsity, 10^12 operations per second.
    dense_fp8_tflops, fp32_tflops
        The same in fp8, and in fp32 without tensor cores' TF32; None where there is none or it is not known here.
    memory_gb
        Memory as sold, in 10^9 bytes.
    node_link_gbytes_per_s
        NVLink or Infinity Fabric inside a node, per direction, None where there is none.
    source
        Where the numbers were read.
    """

    name: str
    dense_bf16_tflops: Decimal
    memory_gb: Decimal
    node_link_gbytes_per_s: Decimal | None
    source: str
    dense_fp8_tflops: Decimal | None = None
    fp32_tflops: Decimal | None = None


def model_named(name: str, pointer: str = "/model") -> Architecture:
    """Look a model up by name or alias, letter case aside.

    Raises
    ------
    SpecError
        If the catalogue has no such model; the fault names the closest ones.
    """
    found = _models().get(name.lower())
    if found is not None:
        return found
    rule = (
        "a model is a catalogue name, the fields of a Hugging Face config.json, or measured `layers` or `stages`"
        f"; the catalogue has {', '.join(model_names())}"
    )
    raise SpecError([Fault(pointer, rule, name, _closest(name, _models()))])


def accelerator_named(name: str, pointer: str) -> Accelerator:
    """Look an accelerator up by name or alias, letter case aside.

    Raises
    ------
    SpecError
        If the catalogue has no such accelerator; the fault names the closest ones and the way round.
    """
    found = _accelerators().get(name.lower())
    if found is not None:
        return found
    rule = (
        "a gpu is a catalogue name; for another card name one of like kind and set `time_factor` and `memory_gb`"
        f"; the catalogue has {', '.join(accelerator_names())}"
    )
    raise SpecError([Fault(pointer, rule, name, _closest(name, _accelerators()))])


def model_names() -> tuple[str, ...]:
    """Names of all catalogue models, aliases left out."""
    return tuple(dict.fromkeys(model.name for model in _models().values()))


def accelerator_names() -> tuple[str, ...]:
    """Names of all catalogue accelerators, aliases left out."""
    return tuple(dict.fromkeys(accelerator.name for accelerator in _accelerators().values()))


def _closest(name: str, known: Iterable[str]) -> str | None:
    """Names that go on where this one ends, then those spelt most alike; three at most."""
    word, names = name.lower(), list(known)
    longer = [other for other in names if word and other.startswith(word)]
    alike = difflib.get_close_matches(word, names, n=MOST_NAMED, cutoff=0.5)
    return ", ".join(list(dict.fromkeys([*longer, *alike]))[:MOST_NAMED]) or None


@cache
def _models() -> dict[str, Architecture]:
    found: dict[str, Architecture] = {}
    for name, row in _read("models.json")["models"].items():
        model = Architecture(
            name=name,
            hidden=row["hidden_size"],
            layers=row["layers"],
            heads=row["heads"],
            kv_heads=row["kv_heads"],
            head_dim=row["head_dim"],
            ffn=row["intermediate_size"],
            vocabulary=row["vocabulary"],
            tied=row.get("tied", False),
            gated=row.get("gated", True),
            flash=row.get("flash", True),
            qkv_bias=row.get("qkv_bias", False),
            source=row["source"],
            qk_norm=row.get("qk_norm", False),
            latent=LatentAttention(**row["latent"]) if "latent" in row else None,
            experts=Experts(**row["experts"]) if "experts" in row else None,
            prediction_layers=row.get("prediction_layers", 0),
        )
        found |= dict.fromkeys([name, *row.get("aliases", [])], model)
    return found


@cache
def _accelerators() -> dict[str, Accelerator]:
    found: dict[str, Accelerator] = {}
    for name, row in _read("accelerators.json")["accelerators"].items():
        link = row["node_link_gbytes_per_s"]
        accelerator = Accelerator(
            name=name,
            dense_bf16_tflops=Decimal(row["dense_bf16_tflops"]),
            memory_gb=Decimal(row["memory_gb"]),
            node_link_gbytes_per_s=None if link is None else Decimal(link),
            source=row["source"],
            dense_fp8_tflops=_known(row.get("dense_fp8_tflops")),
            fp32_tflops=_known(row.get("fp32_tflops")),
        )
        found |= dict.fromkeys([name, *row.get("aliases", [])], accelerator)
    return found


def _known(number: int | Decimal | None) -> Decimal | None:
    return None if number is None else Decimal(number)


def _read(file: str) -> dict[str, Any]:
    text = files("crosspipe.costs").joinpath("data", file).read_text("utf-8")
    document: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return document
