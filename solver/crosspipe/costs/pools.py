"""Pools as written, with what the catalogue knows of their accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crosspipe.costs.catalogue import Accelerator, accelerator_named
from crosspipe.costs.peaks import Peak, peak_of
from crosspipe.errors import Fault, SpecError
from crosspipe.spec.faults import pointer as pointer_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crosspipe.spec.cluster import Pool, Site
    from crosspipe.spec.model import Precision


@dataclass(frozen=True, slots=True)
class PlacedPool:
    """A pool as written, where it was written.

    Attributes
    ----------
    pointer, site, pool
        JSON Pointer to it, the site it belongs to, the pool itself.
    accelerator
        Its entry in the catalogue, None where no `gpu` is named.
    precision
        Precision of the training, whose peak counts.
    """

    pointer: str
    site: str
    pool: Pool
    accelerator: Accelerator | None
    precision: Precision = "bf16"

    @property
    def peak(self) -> Peak | None:
        """The user's own `tflops`, else that of the catalogue, None where neither is known."""
        if self.pool.tflops is not None:
            return Peak(self.pool.tflops, "`tflops` as given")
        card = self.accelerator
        return None if card is None else peak_of(card, self.precision)


def pools_of(sites: Mapping[str, Site], *, estimated: bool, precision: Precision = "bf16") -> tuple[PlacedPool, ...]:
    """List all pools in the user's order, their accelerators looked up.

    Raises
    ------
    SpecError
        If an accelerator is unknown, or its peak where times are estimated.
    """
    found: list[PlacedPool] = []
    faults: list[Fault] = []
    for pointer, site, pool in _written(sites):
        try:
            card = None if pool.gpu is None else accelerator_named(pool.gpu, f"{pointer}/gpu")
        except SpecError as error:
            faults += error.faults
            continue
        placed = PlacedPool(pointer, site, pool, card, precision)
        if estimated and placed.peak is None and card is not None:
            rule = f"must be given: the catalogue knows no {precision} peak of {card.name}"
            faults.append(Fault(f"{pointer}/tflops", rule, "none"))
        elif estimated and placed.peak is None:
            rule = "times are estimated from the model, so every pool names its `gpu`; or give measured `stages`"
            faults.append(Fault(f"{pointer}/gpu", rule, "none", "h100-80gb"))
        found.append(placed)
    if faults:
        raise SpecError(faults)
    return tuple(found)


def _written(sites: Mapping[str, Site]) -> Iterator[tuple[str, str, Pool]]:
    for name, site in sites.items():
        pointer = pointer_to(("sites", name))
        if site.pools is None:
            yield pointer, name, site
        else:
            for number, pool in enumerate(site.pools):
                yield f"{pointer}/pools/{number}", name, pool
