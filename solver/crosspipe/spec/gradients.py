"""What a person writes of the gradients: how the copies of a stage sum them, and what else happens once per step."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crosspipe.spec.base import Gbps, Index, Mb, Ms, SpecModel
from crosspipe.spec.numbers import Whole

Pieces = Annotated[int, Whole(1, 1000)]
"""A number of pieces that one collective is cut into."""


Sharding = Literal["none", "zero1", "full"]
"""What the copies of a stage share out among them."""


class Gradients(SpecModel):
    """The collectives of a step: what the `data` copies of every stage sum, gather and give back.

    `none`: the gradients of a stage are summed by an all-reduce after its last W. `zero1`: by a reduce-scatter, and
    the weights are gathered before its first F. `full`: the gathered weights also take memory of their own, from the
    gather until the stage's last backward, as in PyTorch's pipelining runtime with fully sharded parameters.
    """

    sharding: Sharding = "zero1"
    """What the copies share out: nothing, the optimizer's state, or the parameters too."""

    pieces: Pieces = 1
    """Pieces that each collective between sites is cut into; they fill holes between activations."""

    bandwidth_gbps: Gbps | None = None
    """Bandwidth in Gb/s of one device towards its copies in the site; default the site's `hop_bandwidth_gbps`."""

    latency_ms: Ms | None = None
    """One-way latency in ms between two copies in a site; default the site's `hop_latency_ms`."""

    tied: list[list[Index]] = Field(default_factory=list)
    """Groups of stages that hold copies of the same weights (embedding and head) and sum their gradients."""

    tied_mb: Mb | None = None
    """Size in MB of the tied weights' gradients, whole tensor group; default the estimated embedding."""


__all__ = ["Gradients", "Sharding"]
