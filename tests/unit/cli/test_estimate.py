"""`crosspipe estimate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from crosspipe.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

RUNNER = CliRunner()

CONFIG = {
    "model_type": "mixtral",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "rope_theta": 1000000.0,
}


def found(*arguments: str) -> dict[str, list[dict[str, object]]]:
    result = RUNNER.invoke(app, ["estimate", *arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    read: dict[str, list[dict[str, object]]] = json.loads(result.stdout)
    return read


def test_a_config_is_the_model_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    by_name = found("mixtral-8x7b", "--pipeline", "4")
    by_config = found(str(path), "--pipeline", "4")
    assert by_config["items"] == by_name["items"]
    assert by_config["stages"] == by_name["stages"]


def test_options_of_a_model_alone() -> None:
    stages = found(
        "llama-3-8b", "--tensor", "4", "--pipeline", "2", "--data", "2", "--gpu", "h200", "--microbatch", "2"
    )
    assert len(stages["stages"]) == 2
    full = found("llama-3-8b", "--recompute", "full", "--precision", "fp8")["stages"][0]
    assert full["recompute_ms"] == full["forward_ms"]


def test_a_spec_says_all_itself(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        "model: llama-3-8b\n"
        "training: {microbatches: 4, microbatch: 1, sequence_length: 2048}\n"
        "parallel: {tensor: 8, data: 1}\n"
        "sites: {east: {gpus: 16, gpu: h100-80gb}}\n"
    )
    assert len(found(str(path))["stages"]) == 2
    read = RUNNER.invoke(app, ["estimate", "-", "--format", "json"], input=path.read_text())
    assert json.loads(read.stdout)["stages"] == found(str(path))["stages"]


def test_an_unknown_model_and_a_missing_file_are_told() -> None:
    unknown = RUNNER.invoke(app, ["estimate", "llama-3-70"])
    assert unknown.exit_code == 2
    assert "llama-3-70b" in unknown.stderr
    missing = RUNNER.invoke(app, ["estimate", "nowhere.yaml"])
    assert missing.exit_code == 2
    assert "nowhere.yaml" in missing.stderr


def test_a_tensor_degree_that_does_not_fit_is_told() -> None:
    result = RUNNER.invoke(app, ["estimate", "llama-3-8b", "--tensor", "3"])
    assert result.exit_code == 2
    assert "/parallel/tensor" in result.stderr


def test_the_tensor_degree_is_one_that_the_heads_allow() -> None:
    """28 heads: 4."""
    told = json.dumps(found("qwen2.5-7b")["assumptions"])
    assert "x tensor 4" in told
