"""What is assumed where measured layers become stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosspipe.costs.assumption import Assumption
from crosspipe.costs.layer_sums import is_combined
from crosspipe.costs.memory import bytes_per_parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crosspipe.costs.layer_weights import Bytes
    from crosspipe.spec.stages import Layer

AT = "/model/stages"


def assumptions_of(layers: Sequence[Layer], rule: Bytes, *, cut: bool) -> Iterator[Assumption]:
    """Tell how layers become stages; `cut` says whether they were cut by time."""
    if cut:
        yield Assumption(
            AT,
            f"{len(layers)} layers cut by time",
            "the slowest stage (F + B + W on its device) is as fast as can be, then the fastest as slow; of "
            "equals the earliest cut",
            "`placement.layers_per_stage`, or give measured `stages`",
        )
    if any(layer.frozen for layer in layers) and not all(layer.frozen for layer in layers):
        yield Assumption(
            AT,
            "in a stage of frozen and trainable layers, frozen activations are held until the end of B",
            "a stage takes and gives its memory as one; this never claims too little",
            "give measured `stages`",
        )
    if len({is_combined(layer) for layer in layers if not layer.frozen}) > 1:
        yield Assumption(
            AT,
            "a stage with a layer of combined backward has a combined backward",
            "its W cannot run apart from its B",
            "give `backward_input_ms` and `backward_weight_ms` for every layer",
        )
    if any(layer.parameters_m is not None and not layer.static_mb for layer in layers):
        kept, shared = bytes_per_parameter(rule.sharding, rule.precision)
        text = f"{kept} bytes" + (f" + {shared} bytes / (data x context)" if shared else "")
        yield Assumption(
            AT,
            f"static_mb = ({text}) per parameter / tensor where it is left out or 0",
            f"weights, gradients and Adam in {rule.precision}, as for estimated models; weights alone where none train",
            "static_mb of the layer",
        )
    yield from _tied(layers)


def _tied(layers: Sequence[Layer]) -> Iterator[Assumption]:
    names = [layer.tied for layer in layers if layer.tied is not None]
    if len(set(names)) < len(names):
        yield Assumption(
            AT,
            "layers of one `tied` name share all their weights: a stage with several counts static_mb, weights_mb and "
            "reduced_mb once, at the largest",
            "one copy serves them all",
            "`tied` of the layers",
        )
