"""Rules of the training step and of the sites."""

from __future__ import annotations

import pytest
from tests.unit.spec.documents import document, faults


@pytest.mark.parametrize(
    ("training", "data", "fields"),
    [
        ({"microbatches": 4}, "auto", []),
        ({"microbatches": 4, "microbatch": 2, "sequence_length": 4096}, "auto", []),
        ({"microbatches": {"multipliers": [1, 0.5], "order": "fixed"}}, "auto", []),
        ({"global_batch": 12, "microbatch": 3}, "auto", []),
        ({"global_batch": 12, "microbatch": 3}, 4, []),
        ({"global_batch": 12, "microbatch": 3, "microbatches": 2}, 2, []),
        ({}, "auto", [""]),
        ({"global_batch": 12}, "auto", ["/microbatch"]),
        ({"global_batch": 13, "microbatch": 3}, "auto", ["/global_batch"]),
        ({"global_batch": 12, "microbatch": 3}, 8, ["/global_batch"]),
        ({"global_batch": 12, "microbatch": 3, "microbatches": 2}, 1, ["/global_batch"]),
        ({"global_batch": 12, "microbatch": 3, "microbatches": 4}, "auto", ["/global_batch"]),
        ({"microbatches": {"multipliers": [1], "order": "any"}}, "auto", ["/microbatches/order"]),
    ],
)
def test_microbatches(training, data, fields):
    given = document(training=training, parallel={"data": data})
    assert faults(given) == [f"/training{field}" for field in fields]


@pytest.mark.parametrize(
    ("site", "fields"),
    [
        ({"devices": 1}, []),
        ({"devices": 1, "gpu": "h100-80gb", "time_factor": 1.5, "memory_gb": None}, []),
        ({"gpus": 8, "gpu": "h100-80gb", "tflops": 800}, []),
        ({"pools": [{"devices": 1}, {"gpus": 8, "gpu": "a100-80gb"}], "hop_latency_ms": 1, "memory_headroom": 0.1}, []),
        ({}, [""]),
        ({"gpu": "h100-80gb"}, [""]),
        ({"gpus": 8}, ["/gpu"]),
        ({"gpus": 8, "gpu": "h100-80gb", "devices": 1}, ["/devices"]),
        ({"pools": []}, ["/pools"]),
        ({"pools": [{"devices": 1}], "devices": 1, "memory_gb": 8}, ["/devices", "/memory_gb"]),
        ({"pools": [{"devices": 1}], "time_factor": 2}, ["/time_factor"]),
        ({"pools": [{"devices": 1}, {}]}, ["/pools/1"]),
        ({"pools": [{"devices": 1, "hop_latency_ms": 1}]}, ["/pools/0/hop_latency_ms"]),
        ({"devices": 1, "memory_headroom": 1}, ["/memory_headroom"]),
    ],
)
def test_sites(site, fields):
    given = document(sites={"east": site, "west": {"devices": 1}})
    assert faults(given) == [f"/sites/east{field}" for field in fields]


@pytest.mark.parametrize("name", ["a/b", "a->b", " a", "  "])
def test_names_of_sites(name):
    assert faults(document(sites={name: {"devices": 2}}, links=[])) == ["/sites/" + name.replace("/", "~1")]


def test_a_pipeline_has_devices():
    assert faults(document(parallel={"pipeline": 2})) == []
    assert faults(document(parallel={"pipeline": 3})) == ["/parallel/pipeline"]
    gpus = {"east": {"gpus": 16, "gpu": "h100-80gb"}, "west": {"devices": 1}}
    assert faults(document(sites=gpus, parallel={"pipeline": 9})) == []
    assert faults(document(sites=gpus, parallel={"pipeline": 3, "tensor": 8, "data": 1})) == []
    assert faults(document(sites=gpus, parallel={"pipeline": 3, "tensor": 8, "data": 2})) == ["/parallel/pipeline"]
