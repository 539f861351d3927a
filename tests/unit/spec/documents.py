"""Small valid documents that tests bend out of shape."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from crosspipe.errors import SpecError
from crosspipe.spec.load import parse_spec

ARCHITECTURE = """
model: llama-3-70b            # a catalogue name, a Hugging Face config.json, or measured `layers` or `stages`
training: {global_batch: 512, microbatch: 1, sequence_length: 4096}
parallel: {tensor: 8, pipeline: 8, data: 16}          # what is left out is `auto`
sites:
  east: {gpus: 512, gpu: h100-80gb}
  west: {gpus: 512, gpu: h100-80gb}
links: [{between: [east, west], bandwidth_gbps: 400, one_way_latency_ms: 15}]
"""

MEASURED = """
model:
  stages: {count: 8, forward_ms: 18.522, backward_input_ms: 18.086, backward_weight_ms: 9.337,
           activation_mb: 3709, retained_mb: 1359, static_mb: 2250, boundary_mb: 28.3}
training: {microbatches: 24}
sites:
  east: {devices: 4, memory_gb: 32, hop_latency_ms: 0.601}      # the paper's time per hop inside a site
  west: {devices: 4, memory_gb: 32, hop_latency_ms: 0.601}
links: [{between: [east, west], bandwidth_gbps: 100, one_way_latency_ms: 15}]
"""

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
}


def stage(**fields: Any) -> dict[str, Any]:
    """A split stage with some of its fields changed; None leaves one out."""
    given = {"forward_ms": 10, "backward_input_ms": 10, "backward_weight_ms": 6, "activation_mb": 100, **fields}
    return {name: value for name, value in given.items() if value is not None}


def document(**sections: Any) -> dict[str, Any]:
    """Two stages on two sites, with some of its sections changed."""
    whole = {
        "model": {"stages": [stage(boundary_mb=12.5), stage()]},
        "training": {"microbatches": 4},
        "sites": {"east": {"devices": 1}, "west": {"devices": 1}},
        "links": [{"between": ["east", "west"], "bandwidth_gbps": 100, "one_way_latency_ms": 15}],
    }
    return deepcopy(whole | sections)


def link(**fields: Any) -> dict[str, Any]:
    """A document whose one link has some of its fields changed; None leaves one out."""
    given = {"between": ["east", "west"], "bandwidth_gbps": 100, **fields}
    return document(links=[{name: value for name, value in given.items() if value is not None}])


def faults(source: Any) -> list[str]:
    """The pointers of all faults of a document; empty if it is a valid spec."""
    try:
        parse_spec(source)
    except SpecError as error:
        return [fault.pointer for fault in error.faults]
    return []
