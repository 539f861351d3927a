from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml
from tests.unit.cli.running import SMALL, answer_of, call

from crosspipe.costs.catalogue import model_names
from crosspipe.spec.digest import spec_digest
from crosspipe.spec.load import parse_spec

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "rope_theta": 500000.0,
}


def value(spec: str) -> dict[str, Any]:
    answer = answer_of(call("solve", "-", "-t", 0, "--format", "json", stdin=spec))
    return {name: answer[name] for name in ("objective", "makespan_ms", "span_ms", "tokens_per_second", "families")}


def test_the_schema_is_a_schema_and_holds_for_specs() -> None:
    schema = json.loads(call("spec", "schema").stdout)
    validator = jsonschema.Draft202012Validator
    validator.check_schema(schema)
    validator(schema).validate(yaml.safe_load(SMALL))
    assert not validator(schema).is_valid({"model": {}, "sites": {}})


def test_a_valid_spec_is_told_with_digest_and_size() -> None:
    result = call("spec", "validate", "-", stdin=SMALL)
    assert result.exit_code == 0
    first, second = result.stdout.splitlines()
    assert first == f"valid: {spec_digest(parse_spec(SMALL))}"
    # F, B, W on four stages, and both messages over the link between the sites, for each of three microbatches.
    assert second == "unidirectional: 4 stages on 4 devices, 3 microbatches, 42 operations"


def test_warnings_stand_beside_the_verdict() -> None:
    result = call("spec", "validate", "-", stdin=SMALL.replace("one_way_latency_ms: 4", "one_way_latency_ms: 400"))
    assert result.exit_code == 0
    assert "\nwarning /links/0/" in result.stdout


def test_init_and_validate_fit_together(tmp_path: Path) -> None:
    started = call("spec", "init")
    assert started.exit_code == 0
    assert call("spec", "validate", "-", stdin=started.stdout).exit_code == 0
    path = tmp_path / "spec.yaml"
    assert call("spec", "init", "--out", path).stdout == ""
    assert path.read_text() == started.stdout


@pytest.mark.parametrize("model", model_names())
def test_init_knows_every_model_of_the_catalogue(model: str) -> None:
    started = call("spec", "init", "--model", model)
    assert started.exit_code == 0
    assert f"model: {model}\n" in started.stdout
    assert parse_spec(started.stdout).model == model


def test_init_refuses_an_unknown_model() -> None:
    result = call("spec", "init", "--model", "llama-3-71b")
    assert result.exit_code == 2
    assert "llama-3-70b" in result.stderr
    assert result.stdout == ""


def test_an_explained_spec_is_a_spec_of_the_same_value() -> None:
    for text in (SMALL, call("spec", "init").stdout, call("spec", "init", "--model", "llama-3-8b").stdout):
        explained = call("spec", "explain", "-", stdin=text)
        assert explained.exit_code == 0
        again = parse_spec(explained.stdout)
        assert again.model is not None
        # An explained spec shows the cut by time; left to the solver it may be a better one, never a worse.
        assert value(explained.stdout)["makespan_ms"] >= value(text)["makespan_ms"]
        assert value(explained.stdout) == value(f"{text}\nplacement: {{layers_per_stage: even}}\n")
        assert call("spec", "explain", "-", stdin=explained.stdout).exit_code == 0


def test_an_explained_spec_names_the_routes_over_several_links() -> None:
    links = "[{between: [a, b], one_way_latency_ms: 1}, {between: [b, c], one_way_latency_ms: 2}]"
    text = f"""
model: {{stages: {{count: 2, forward_ms: 1, backward_ms: 2, activation_mb: 1}}}}
training: {{microbatches: 1}}
sites: {{a: {{devices: 1}}, b: {{devices: 1}}, c: {{devices: 1}}}}
placement: {{map: [a/0, c/0]}}
links: {links}
"""
    explained = call("spec", "explain", "-", stdin=text)
    assert explained.exit_code == 0
    assert explained.stdout.splitlines()[-2:] == [
        "# route of a/0 to c/0: over a-b, b-c, one after the other",
        "# route of c/0 to a/0: over b-c, a-b, one after the other",
    ]
    assert value(explained.stdout) == value(text)


def test_what_does_not_compile_is_explained_all_the_same() -> None:
    text = SMALL.replace("count: 4", "count: 5")
    assert text != SMALL
    assert call("spec", "validate", "-", stdin=text).exit_code == 2
    explained = call("spec", "explain", "-", stdin=text)
    assert explained.exit_code == 0
    assert "route of" not in explained.stdout


def test_a_spec_from_a_config_of_hugging_face(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIG))
    made = call("spec", "from", config)
    assert made.exit_code == 0
    assert call("spec", "validate", "-", stdin=made.stdout).exit_code == 0
    named = call("spec", "init", "--model", "llama-3-8b").stdout
    assert value(made.stdout)["makespan_ms"] == value(named)["makespan_ms"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"hidden_size": 0}', json.dumps(CONFIG | {"hidden_size": -1})])
def test_a_config_that_is_none_is_refused(text: str) -> None:
    result = call("spec", "from", "-", stdin=text)
    assert result.exit_code == 2
    assert result.stderr.startswith("error [")
    assert result.stdout == ""
