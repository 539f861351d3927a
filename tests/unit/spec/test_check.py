"""Specs made in Python, and the places they name."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.unit.spec.documents import ARCHITECTURE, CONFIG, MEASURED, document, stage

from crosspipe.errors import SpecError
from crosspipe.spec.base import SpecModel
from crosspipe.spec.check import require_valid, spec_faults
from crosspipe.spec.cluster import Link, Pool, Site
from crosspipe.spec.load import parse_spec
from crosspipe.spec.model import Spec, Training
from crosspipe.spec.places import device_counts, stage_count, total_devices
from crosspipe.spec.shape import model_at, parts
from crosspipe.spec.stages import Stage, StagesModel


def spec_of(*links: Link) -> Spec:
    work = Stage(forward_ms=Decimal(1), backward_ms=Decimal(2))
    return Spec(
        model=StagesModel(stages=[work, work]),
        training=Training(microbatches=2),
        sites={"east": Site(devices=1), "west": Site(pools=[Pool(devices=1), Pool(devices=2)])},
        links=list(links),
    )


def test_a_spec_made_in_python_is_checked_on_request():
    good = spec_of(Link(from_="east", to="west/2"))
    bad = spec_of(Link(from_="east", to="west/3"))
    require_valid(good)
    assert [fault.pointer for fault in spec_faults(bad)] == ["/links/0/to"]
    with pytest.raises(SpecError, match="nearest legal: west/2"):
        require_valid(bad)


def test_devices_are_counted_across_pools():
    assert device_counts(spec_of()) == {"east": 1, "west": 3}
    assert total_devices(spec_of()) == 4
    assert stage_count(spec_of()) == 2


def test_gpus_are_counted_once_their_degrees_are_known():
    spec = parse_spec(ARCHITECTURE)
    assert device_counts(spec) == {"east": 4, "west": 4}
    unknown = spec.model_copy(update={"parallel": spec.parallel.model_copy(update={"data": "auto"})})
    assert device_counts(unknown) == {"east": None, "west": None}
    assert total_devices(unknown) is None


def test_the_shape_knows_every_model():
    option = {"activation_mb": 1, "recompute_ms": 1}
    documents = [
        document(
            model={"stages": [stage(recompute_option=option, weights_mb=1), stage()]},
            training={"microbatches": {"multipliers": [1]}, "utilisation": {}},
            sites={"east": {"pools": [{"devices": 1}]}, "west": {"devices": 1}},
            extra_operations=[{"name": "a", "duration_ms": 1}],
            gradients={},
        ),
        document(model={"layers": [stage()]}),
        document(model={"stages": {"count": 2, **stage(recompute_option=option)}}),
        document(model=CONFIG),
    ]
    seen: set[type[SpecModel]] = set()
    for written in documents:
        for path, part in parts(parse_spec(written)):
            value = part.model_dump(by_alias=True)
            assert model_at(path, value) is type(part), path
            seen.add(type(part))
    assert seen == set(_all_models(SpecModel)) - {_class_named("Work")}


def _all_models(model: type[SpecModel]) -> list[type[SpecModel]]:
    below = [found for child in model.__subclasses__() for found in _all_models(child)]
    return [*below, *(child for child in model.__subclasses__() if child.__module__.startswith("crosspipe.spec"))]


def _class_named(name: str) -> type[SpecModel]:
    return next(model for model in _all_models(SpecModel) if model.__name__ == name)


def test_specs_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        parse_spec(MEASURED).training.microbatches = 3  # type: ignore[misc]  # the point of the test
