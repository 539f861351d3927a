"""Properties of every expansion, over specs of all forms."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.costs.specs import stages_of

from crosspipe.costs import Expansion, expand, expanded_text
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.check import spec_faults
from crosspipe.spec.model import Spec

CARDS = st.sampled_from(["h100-80gb", "a100-40gb", "b200", "mi300x"])
TIMES = st.integers(1, 40).map(lambda quarter: quarter / 4)
SIZES = st.sampled_from([0, 0.5, 10, 1234.5])
DEGREE = st.sampled_from(["auto", "auto", 1, 2, 4, 8])


@st.composite
def backwards(draw: st.DrawFn) -> dict[str, Any]:
    work: dict[str, Any] = {"forward_ms": draw(TIMES), "activation_mb": draw(SIZES), "static_mb": draw(SIZES)}
    work |= {"boundary_mb": draw(SIZES)}
    kind = draw(st.sampled_from(["split", "combined", "passing"]))
    if kind == "combined":
        return work | {"backward_ms": draw(TIMES)}
    work["backward_input_ms"] = draw(TIMES)
    return work | ({"backward_weight_ms": draw(TIMES)} if kind == "split" else {})


@st.composite
def habits(draw: st.DrawFn) -> dict[str, Any]:
    """What a layer says beside its work, mostly nothing."""
    option = {"activation_mb": 1, "recompute_ms": 2, "backward_extra_mb": 3}
    choices: list[tuple[str, Any]] = [
        ("group", draw(st.sampled_from(["a", "b"]))),
        ("site", draw(st.sampled_from(["east", "west"]))),
        ("device", draw(st.sampled_from(["east/0", "east/1", "west/0"]))),
        ("tied", "matrix"),
        ("parameters_m", 7),
        ("weights_mb", 5),
        ("selective", option),
        ("full", option),
    ]
    return dict(draw(st.lists(st.sampled_from(choices), max_size=2))) if draw(st.booleans()) else {}


@st.composite
def sites(draw: st.DrawFn, *, named: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("east", "west")[: draw(st.integers(1, 2))]:
        if named or draw(st.booleans()):
            pool: dict[str, Any] = {"gpus": draw(st.sampled_from([8, 16, 24, 64])), "gpu": draw(CARDS)}
        else:
            pool = {"devices": draw(st.integers(1, 4)), "time_factor": draw(st.sampled_from([1, 1.5, 2]))}
        found[name] = {"pools": [pool, pool]} if draw(st.booleans()) else pool
    return found


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    form = draw(st.sampled_from(["name", "layers", "stages"]))
    training: dict[str, Any] = {"microbatches": draw(st.integers(1, 64))}
    model: Any = draw(st.sampled_from(["llama-3.2-1b", "llama-3-8b", "qwen2.5-7b", "zero-bubble-1.5b"]))
    if form == "name" or draw(st.booleans()):
        training = {"global_batch": 64 * draw(st.integers(1, 9)), "microbatch": draw(st.sampled_from([1, 2]))}
        training |= {"sequence_length": draw(st.sampled_from([128, 1024, 8192]))}
    if form == "layers":
        repeat = st.integers(1, 6)
        count = draw(st.integers(1, 4))
        model = {"layers": [draw(backwards()) | draw(habits()) | {"repeat": draw(repeat)} for _ in range(count)]}
        training["recompute"] = draw(st.sampled_from(["none", "none", "full"]))
        if draw(st.booleans()):
            model["layers"].insert(0, {"forward_ms": draw(TIMES), "frozen": True, "activation_mb": draw(SIZES)})
    if form == "stages":
        model = {"stages": [draw(backwards()) for _ in range(draw(st.integers(1, 8)))]}
    return Spec.model_validate(
        {
            "model": model,
            "training": training,
            "sites": draw(sites(named=form == "name")),
            "parallel": {"tensor": draw(DEGREE), "pipeline": draw(DEGREE), "data": draw(DEGREE)},
            "gradients": draw(st.sampled_from([None, None, {"bandwidth_gbps": 10}, {"sharding": "full"}])),
            "placement": {"stages_per_device": draw(st.sampled_from([1, 1, 2]))} if form != "stages" else {},
        }
    )


def expansion_or_faults(spec: Spec) -> tuple[Expansion | None, tuple[Fault, ...]]:
    try:
        return expand(spec), ()
    except SpecError as error:
        return None, error.faults


@given(specs())
def test_an_expansion_is_valid_whole_stable_and_readable(spec: Spec) -> None:
    """Either a refusal that points somewhere, or a spec with nothing left open."""
    expansion, faults = expansion_or_faults(spec)
    if expansion is None:
        assert faults
        assert all(fault.pointer and fault.rule for fault in faults)
        return
    expanded, parallel = expansion.spec, expansion.spec.parallel
    assert spec_faults(expanded) == ()
    assert expand(expanded).spec == expanded
    assert Spec.model_validate(yaml.safe_load(expanded_text(expansion))) == expanded
    assert isinstance(parallel.tensor, int)
    assert isinstance(parallel.data, int)
    pools = [pool for site in expanded.sites.values() for pool in site.pools or [site]]
    assert sum(pool.devices or 0 for pool in pools) == parallel.pipeline
    assert isinstance(expanded.training.microbatches, int)
    for stage in stages_of(expansion):
        assert stage.gradient_mb is not None
        assert stage.retained_mb is not None
        assert stage.retained_mb <= stage.activation_mb
    if spec.training.microbatches is None and spec.training.microbatch is not None:
        batch = expanded.training.microbatches * spec.training.microbatch * parallel.data
        assert batch == spec.training.global_batch
    for written, pool in zip(
        (pool for site in spec.sites.values() for pool in site.pools or [site]), pools, strict=True
    ):
        if written.gpus is not None:
            assert (pool.devices or 0) * parallel.tensor * parallel.data == written.gpus


@given(specs())
def test_no_time_and_no_memory_is_lost(spec: Spec) -> None:
    """The stages of measured layers add up to the layers."""
    layers = getattr(spec.model, "layers", None)
    if layers is None:
        return
    expansion, _ = expansion_or_faults(spec)
    if expansion is None:
        return
    stages = stages_of(expansion)
    assert sum(stage.forward_ms for stage in stages) == sum(layer.forward_ms * layer.repeat for layer in layers)
    if all(layer.tied is None and layer.parameters_m is None for layer in layers):
        assert sum(stage.static_mb for stage in stages) == sum(layer.static_mb * layer.repeat for layer in layers)
    assert sum(_backward(stage) for stage in stages) == sum(_backward(layer) * layer.repeat for layer in layers)


def _backward(work: Any) -> Any:
    return (work.backward_input_ms or 0) + (work.backward_weight_ms or 0) + (work.backward_ms or 0)
