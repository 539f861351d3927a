"""Weights of measured layers: what their parameters take, and what layers that share them hold and sum."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from crosspipe.costs.memory import static_bytes
from crosspipe.costs.precision import FORMATS
from crosspipe.costs.quantize import estimated_mb
from crosspipe.spec.numbers import MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crosspipe.costs.degrees import Degrees
    from crosspipe.costs.precision import Format
    from crosspipe.spec.gradients import Sharding
    from crosspipe.spec.model import Precision
    from crosspipe.spec.stages import Layer

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Bytes:
    """How many bytes a parameter takes.

    Attributes
    ----------
    sharding
        How the copies share out what they hold, None where no `gradients` are given.
    precision
        Number format of the training.
    """

    sharding: Sharding | None = None
    precision: Precision = "bf16"

    @property
    def _format(self) -> Format:
        return FORMATS[self.precision]

    def static_mb(self, layer: Layer, degrees: Degrees) -> Decimal:
        """Memory of weights, gradients and optimizer per GPU: as given, or by the rule of estimates.

        A layer that does not train holds its weights alone.
        """
        if layer.static_mb or layer.parameters_m is None:
            return layer.static_mb
        if not _trains(layer):
            return estimated_mb(Fraction(self._format.weight * _parameters(layer.parameters_m), degrees.tensor))
        replicas = degrees.data * degrees.context
        held = static_bytes(_parameters(layer.parameters_m), replicas, self.sharding, self.precision)
        return estimated_mb(held / degrees.tensor)

    def weights_mb(self, layer: Layer) -> Decimal | None:
        """Size of the weights as gathered: as given, or that of the parameters where gradients are summed."""
        if layer.weights_mb is not None or layer.parameters_m is None or self.sharding is None or not _trains(layer):
            return layer.weights_mb
        return estimated_mb(Fraction(self._format.value * _parameters(layer.parameters_m)))

    def reduced_mb(self, layer: Layer) -> Decimal | None:
        """Size of what the copies sum."""
        return self.weights_mb(layer) if layer.reduced_mb is None else layer.reduced_mb


def once(layers: Sequence[Layer], size: Callable[[Layer], Decimal | None]) -> Decimal | None:
    """Add up a size over the layers of a stage, weights that several share counted once, at the largest.

    None where none has that size.
    """
    apart = [mine for layer in layers if layer.tied is None and (mine := size(layer)) is not None]
    shared: dict[str, Decimal] = {}
    for layer in layers:
        held = size(layer)
        if layer.tied is not None and held is not None:
            shared[layer.tied] = max(held, shared.get(layer.tied, ZERO))
    given = [*apart, *shared.values()]
    return add(given) if given else None


@dataclass(frozen=True, slots=True)
class Tied:
    """Weights that several stages hold copies of.

    Attributes
    ----------
    groups
        The stages of each; no stage is in two groups.
    size_mb
        Size of the gradients summed, that of the largest group; None where no layer tells it.
    joined
        Whether weights of unlike size or with stages in common were taken together.
    """

    groups: tuple[tuple[int, ...], ...]
    size_mb: Decimal | None
    joined: bool


def tied_over(stages: Sequence[Sequence[Layer]], rule: Bytes) -> Tied | None:
    """Find the stages that share weights, None if none do; frozen layers have no gradients to sum.

    Groups with a stage in common become one, of the sum of their sizes.
    """
    names = dict.fromkeys(layer.tied for layers in stages for layer in layers if layer.tied is not None)
    groups: list[tuple[set[int], Decimal | None]] = []
    joined = False
    for name in names:
        mine = [layer for layers in stages for layer in layers if _shares(layer, name)]
        holders = {n for n, layers in enumerate(stages) if any(_shares(layer, name) for layer in layers)}
        if len(holders) < 2:  # one copy alone sums nothing
            continue
        size = max((each for layer in mine if (each := rule.reduced_mb(layer)) is not None), default=None)
        for other in [group for group in groups if group[0] & holders]:
            groups.remove(other)
            holders |= other[0]
            size = add(part for part in (size, other[1]) if part is not None)
            joined = True
        groups.append((holders, size))
    if not groups:
        return None
    known = {size for _, size in groups if size is not None}
    every = tuple(tuple(sorted(holders)) for holders, _ in groups)
    return Tied(every, max(known, default=None), joined or len(known) > 1)


def _trains(layer: Layer) -> bool:
    """Whether a layer's weights train: it has a W, alone or in a combined backward."""
    return layer.backward_weight_ms is not None or layer.backward_ms is not None


def _shares(layer: Layer, name: str) -> bool:
    return layer.tied == name and not layer.frozen


def add(values: Iterable[Decimal]) -> Decimal:
    """Add decimals without rounding."""
    with localcontext(prec=MOST_DIGITS):
        return sum(values, ZERO)


def _parameters(millions: Decimal) -> int:
    return round(Fraction(millions) * 10**6)
