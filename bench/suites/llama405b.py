"""Llama 3 405B on two sites: one pipeline through both, or whole pipelines in each, which sum over the link.

The setting is that of the CrossPipe paper (arXiv 2507.00217, section on parallelism across datacenters): TP 8, PP 16,
DP 64, sequences of 8192, a global batch of 2 x PP x DP, one sequence per microbatch. Times are its analytic work counts
at 500 TFLOP/s for each GPU, eight layers per stage; a message is 2 bytes x microbatch x sequence x hidden size x DP; a
device holds what 1F1B holds. Sums inside a site take no time, as in the paper. Bandwidths are in bytes.

Its figure does not say how many bytes a parameter costs in each phase of the sum, nor whether a MB is 10^6 or 2^20
bytes. Both are parameters here (`Reading`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.quantities import BYTES_PER_MB, NS_PER_US, gb, mb, ms
from bench.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_S = 2.0

BANDWIDTHS = tuple(4 << step for step in range(12))
"""GB/s."""

LATENCIES = (4, 32, 128)
"""One way, ms."""

MIDDLE = 32
"""Latency at which readings are compared."""

TENSOR, PIPELINE, DATA, MICROBATCHES, LAYERS = 8, 16, 64, 32, 128
HIDDEN, FFN, SEQUENCE = 16384, 53248, 8192
PARAMETERS = 406 * 10**9
FLOPS_PER_US = 500 * 10**6
PIECES = 4

WAVE_FROM = 128
"""GB/s from which a wave may be better across sites: it passes the link twice as often."""

QUICK = {"pipeline 64 GB/s 32 ms unidirectional", "data 64 GB/s 32 ms 2 bytes"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What the figure leaves open: bytes per parameter in each phase of the sum, and of one MB of a message."""

    parameter_bytes: int = 2
    mb_bytes: int = BYTES_PER_MB


READINGS = {"2 bytes": Reading(), "4 bytes": Reading(4), "2^20": Reading(4, 2**20)}
"""bf16; fp32, or bf16 on a link whose two directions share the wire; the latter with messages in 2^20 bytes."""


def rows() -> list[Row]:
    """Build the rows: one site, pipelines across sites, then copies across sites."""
    return [*_one_site(), *_pipelines(), *_copies()]


def not_overlapped_ns(one_site_ns: int, bandwidth: int, latency: int, reading: Reading) -> int:
    """Time of whole pipelines in each site, and after them a reduce-scatter and a gather on the ring of two."""
    phase_ns = latency * 10**6 + PARAMETERS * reading.parameter_bytes // (2 * bandwidth)
    return one_site_ns + 2 * phase_ns


def _one_site() -> Iterator[Row]:
    for traversal in ("unidirectional", "wave"):
        spec = _spec(traversal, {"one": PIPELINE}, Reading())
        yield _row(f"one site {traversal}", spec)


def _pipelines() -> Iterator[Row]:
    for latency in LATENCIES:
        for bandwidth in BANDWIDTHS:
            for traversal in ("unidirectional", "wave") if bandwidth >= WAVE_FROM else ("unidirectional",):
                name = f"pipeline {bandwidth} GB/s {latency} ms {traversal}"
                yield _row(name, _pipeline(bandwidth, latency, traversal, Reading()))
    for bandwidth in BANDWIDTHS:
        name = f"pipeline {bandwidth} GB/s {MIDDLE} ms unidirectional 2^20"
        yield _row(name, _pipeline(bandwidth, MIDDLE, "unidirectional", READINGS["2^20"]))


def _copies() -> Iterator[Row]:
    for latency in LATENCIES:
        for bandwidth in BANDWIDTHS:
            for name in ("2 bytes", "4 bytes") if latency == MIDDLE else ("2 bytes",):
                reading = READINGS[name]
                spec = _spec("wave", {"east": PIPELINE, "west": PIPELINE}, reading) | _link(bandwidth, latency)
                spec["model"]["stages"]["weights_mb"] = mb(PARAMETERS * reading.parameter_bytes // (2 * PIPELINE))
                spec["parallel"]["across_sites"] = "data"
                spec["gradients"] = {"sharding": "zero1", "pieces": PIECES}
                yield _row(f"data {bandwidth} GB/s {latency} ms {name}", spec)


def _row(name: str, spec: dict[str, Any]) -> Row:
    return Row("llama405b", name, spec | {"name": name}, "makespan", LIMIT_S, quick=name in QUICK)


def _pipeline(bandwidth: int, latency: int, traversal: str, reading: Reading) -> dict[str, Any]:
    return _spec(traversal, {"east": PIPELINE // 2, "west": PIPELINE // 2}, reading) | _link(bandwidth, latency)


def _link(bandwidth: int, latency: int) -> dict[str, Any]:
    return {"links": [{"between": ["east", "west"], "bandwidth_gbps": 8 * bandwidth, "one_way_latency_ms": latency}]}


def _spec(traversal: str, devices: dict[str, int], reading: Reading) -> dict[str, Any]:
    chunks = 2 if traversal == "wave" else 1
    layers = LAYERS // PIPELINE // chunks
    matrices = 4 * SEQUENCE * HIDDEN**2 * 17 // 16 + 6 * SEQUENCE * HIDDEN * FFN
    attention = SEQUENCE**2 * HIDDEN
    inputs = SEQUENCE * HIDDEN * 49 // 4
    activation = layers * (inputs + 8 * SEQUENCE * FFN) // TENSOR
    message = 2 * SEQUENCE * HIDDEN * BYTES_PER_MB // reading.mb_bytes
    return {
        "model": {
            "stages": {
                "count": PIPELINE * chunks,
                "forward_ms": _ms(layers * (matrices + 2 * attention)),
                "backward_input_ms": _ms(layers * (matrices + 5 * attention)),
                "backward_weight_ms": _ms(layers * matrices),
                "activation_mb": mb(activation),
                "retained_mb": mb(layers * (inputs + 6 * SEQUENCE * FFN) // TENSOR),
                "boundary_mb": mb(message),
            }
        },
        "training": {"microbatches": MICROBATCHES},
        "parallel": {"data": DATA},
        "sites": {
            name: {"devices": count, "memory_gb": gb(PIPELINE * chunks * activation)} for name, count in devices.items()
        },
        "placement": {"traversal": traversal, "stages_per_device": chunks},
    }


def _ms(flops: int) -> float:
    return ms(round(flops / (TENSOR * FLOPS_PER_US)) * NS_PER_US)
