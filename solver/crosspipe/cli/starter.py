"""The two-site spec that `spec init` and `spec from` start people with."""

from __future__ import annotations

from crosspipe.costs.expand import expand
from crosspipe.errors import SpecError
from crosspipe.spec.load import parse_spec

STARTER = """\
# A cluster spec: what trains, on which sites, joined by which links. `crosspipe spec explain` shows every default.
model: {model}
training: {{global_batch: 512, microbatch: 1, sequence_length: 4096}}
parallel: {{tensor: {tensor}, pipeline: 8, data: {data}}}     # what is left out is chosen
sites:
  east: {{gpus: 512, gpu: h100-80gb}}
  west: {{gpus: 512, gpu: h100-80gb}}
links:
  - {{between: [east, west], bandwidth_gbps: 400, one_way_latency_ms: 15}}     # gigabits per second; not the round trip
"""


def starter(model: str) -> str:
    """Write a spec to start from, with the largest tensor degree that the model's heads allow.

    Raises
    ------
    SpecError
        If there is none.
    """
    refused: SpecError | None = None
    for tensor in (8, 4, 2, 1):
        text = STARTER.format(model=model, tensor=tensor, data=128 // tensor)
        try:
            expand(parse_spec(text))
        except SpecError as error:
            refused = refused or error
        else:
            return text
    raise refused or SpecError([])
