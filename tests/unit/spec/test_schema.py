"""The JSON Schema: valid itself, true to the parser, every field described with its unit."""

from __future__ import annotations

import json

import pytest
import yaml
from jsonschema import Draft202012Validator
from tests.unit.spec.documents import ARCHITECTURE, CONFIG, MEASURED, document

from crosspipe.spec.schema import spec_schema

SCHEMA = spec_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

UNITS = {"_ms": "ms", "_mb": "MB", "_gb": "GB", "_gbps": "Gb/s", "tflops": "TFLOP/s", "_per_hour": "per hour"}


def fields():
    for name, model in [("Spec", SCHEMA), *SCHEMA["$defs"].items()]:
        for field, schema in model["properties"].items():
            yield pytest.param(field, schema, id=f"{name}.{field}")


def test_it_is_a_schema_of_2020_12():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


@pytest.mark.parametrize(("field", "schema"), list(fields()))
def test_every_field_is_described_with_its_unit(field, schema):
    assert schema["description"].endswith(".")
    for suffix, unit in UNITS.items():
        if field.endswith(suffix) and field != "transfer_table":
            assert unit in schema["description"]


@pytest.mark.parametrize("written", [yaml.safe_load(ARCHITECTURE), yaml.safe_load(MEASURED), document(model=CONFIG)])
def test_it_accepts_what_the_parser_accepts(written):
    VALIDATOR.validate(written)


@pytest.mark.parametrize(
    "written",
    [
        document(trainnig={}),
        document(training={"microbatches": 0}),
        document(training={"microbatches": True}),
        document(links=[{"from_": "east"}]),
        document(links=[{"bandwidth_gbps": "100"}]),
        document(links=[{"closed_ms": [[0]]}]),
        document(sites={}),
        document(model={"stages": []}),
    ],
)
def test_it_refuses_faults_of_a_field(written):
    assert not VALIDATOR.is_valid(written)
