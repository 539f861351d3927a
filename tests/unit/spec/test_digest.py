"""The digest names a spec, however it is written."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from tests.unit.spec.documents import ARCHITECTURE, MEASURED, document

from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec


def digest(source) -> str:
    return spec_digest(parse_spec(source))


def test_it_is_a_sha256():
    assert len(digest(MEASURED)) == 64
    assert set(digest(MEASURED)) <= set("0123456789abcdef")


def test_it_never_changes_by_accident():
    assert digest(MEASURED) == "770d19c376b86f027fccfb47c480eab0f98704b648cf3a4845ce2e9d30dcd325"
    assert digest(ARCHITECTURE) == "2e79ff82bac8f8594329bcb950f3c3c6086f63a7f69bbd3097d5b6f2ad172f4d"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("100", "100.0"),
        ("100", "1e2"),
        ("100", "1.00E+2"),
        ("15", "15.000"),
        ("28.3", "28.30"),
        ("{count: 8,", "{count: 8.0,"),
    ],
)
def test_ways_of_writing_a_number(old, new):
    assert old in MEASURED
    assert digest(MEASURED.replace(old, new)) == digest(MEASURED)


def test_the_order_of_fields_does_not_matter():
    written = document()
    turned = json.loads(json.dumps(written), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    turned["sites"] = written["sites"]
    assert list(turned) != list(written)
    assert digest(turned) == digest(written)


def test_the_order_of_sites_matters():
    written = document()
    turned = written | {"sites": dict(reversed(written["sites"].items()))}
    assert digest(turned) != digest(written)


def test_a_default_written_out_changes_nothing():
    written = document()
    spelled = deepcopy(written) | {"parallel": {"tensor": "auto"}, "extra_operations": [], "placement": {}}
    spelled["links"][0] |= {"duplex": "full", "per_replica": False, "rtt_ms": None}
    spelled["sites"]["east"] |= {"time_factor": 1.0, "memory_gb": None}
    assert digest(spelled) == digest(written)


def test_it_survives_json():
    spec = parse_spec(MEASURED)
    assert digest(spec.model_dump_json(by_alias=True)) == spec_digest(spec)


def test_every_value_counts():
    written = document()
    changed = document(links=[{**written["links"][0], "bandwidth_gbps": 100.001}])
    assert digest(changed) != digest(written)
    assert digest(document(name="other")) != digest(written)


def test_every_digit_counts_even_where_a_double_ends():
    one, other = (MEASURED.replace("28.3", f"28.30000000000000000000{last}") for last in (1, 2))
    assert "28.3000" in one
    assert digest(one) != digest(other)
