"""Where in a document each model stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from crosspipe.spec.base import SpecModel
from crosspipe.spec.branches import CONFIG, LAYERS, STAGES, model_tag
from crosspipe.spec.cluster import Link, Pool, Site
from crosspipe.spec.gradients import Gradients
from crosspipe.spec.model import ExtraOperation, Limits, Parallel, Placement, Spec, Training, Utilisation
from crosspipe.spec.stages import (
    HuggingFaceModel,
    Layer,
    LayersModel,
    Microbatches,
    RecomputeOption,
    Stage,
    StagesModel,
    UniformStages,
)

if TYPE_CHECKING:
    from crosspipe.spec.faults import Path

ANY: Final = "*"

SHAPE: Final[tuple[tuple[tuple[str, ...], type[SpecModel]], ...]] = (
    ((), Spec),
    (("model", "stages", "recompute_option"), RecomputeOption),
    (("model", "stages", ANY, "recompute_option"), RecomputeOption),
    (("model", "stages", ANY), Stage),
    (("model", "stages"), UniformStages),
    (("model", "layers", ANY), Layer),
    (("training", "microbatches"), Microbatches),
    (("training", "utilisation"), Utilisation),
    (("training",), Training),
    (("parallel",), Parallel),
    (("sites", ANY, "pools", ANY), Pool),
    (("sites", ANY), Site),
    (("links", ANY), Link),
    (("placement",), Placement),
    (("gradients",), Gradients),
    (("extra_operations", ANY), ExtraOperation),
    (("limits",), Limits),
)
"""Way to each model; `*` stands for any name or index."""

MODEL_FORMS: Final[dict[str | None, type[SpecModel]]] = {
    STAGES: StagesModel,
    LAYERS: LayersModel,
    CONFIG: HuggingFaceModel,
}
"""The model at `/model`, by the form the user meant."""


def model_at(path: Path, value: object) -> type[SpecModel] | None:
    """Find the model that describes the mapping `value` at `path`, None if there is none."""
    if path == ("model",):
        return MODEL_FORMS.get(model_tag(value))
    return next((model for way, model in SHAPE if _matches(way, path)), None)


def field_names(model: type[SpecModel]) -> list[str]:
    """List the fields of a model as a document spells them."""
    return [field.alias or name for name, field in model.model_fields.items()]


def parts(value: object, path: Path = ()) -> Iterator[tuple[Path, SpecModel]]:
    """Walk a model and all models inside it, outermost first, each with its place in a document."""
    inside: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, SpecModel):
        yield path, value
        inside = ((field.alias or name, getattr(value, name)) for name, field in type(value).model_fields.items())
    elif isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, child in inside:
        if isinstance(child, SpecModel | dict | list):
            yield from parts(child, (*path, key))


def sound_parts(tree: object, path: Path = ()) -> Iterator[tuple[Path, SpecModel]]:
    """Walk a document that is no valid spec: those models inside it that are valid by themselves."""
    if isinstance(tree, Mapping):
        model = model_at(path, tree)
        if path and model is not None:
            # What is unsound by itself is left to the validation of the whole, which tells its faults.
            with suppress(ValidationError):
                yield path, model.model_validate(tree, by_alias=True, by_name=False)
        for key, value in tree.items():
            yield from sound_parts(value, (*path, key))
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            yield from sound_parts(value, (*path, number))


def _matches(way: tuple[str, ...], path: Path) -> bool:
    return len(way) == len(path) and all(step in (ANY, part) for step, part in zip(way, path, strict=True))
