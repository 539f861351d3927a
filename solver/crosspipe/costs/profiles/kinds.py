"""What kind of profile a file is, by its name and how it begins."""

from __future__ import annotations

from typing import Final, Literal

from crosspipe.costs.profiles.deepspeed import FORWARD, LINE
from crosspipe.costs.profiles.megatron import HEADER
from crosspipe.costs.profiles.rows import COLUMNS

Kind = Literal["config", "metis", "csv", "json", "megatron", "deepspeed"]

KINDS: Final[dict[Kind, str]] = {
    "config": "a Hugging Face config.json",
    "metis": "a folder of Metis profiles, or one of its files",
    "csv": "a table of layers",
    "json": "a list of layers",
    "megatron": "a log of Megatron-LM with --timing-log-level 2",
    "deepspeed": "a log of DeepSpeed with wall_clock_breakdown",
}
"""The kinds in words."""


def kind_of(name: str, text: str) -> Kind:
    """Tell the kind of a file; what is none of the others is taken for a config."""
    if text.lstrip().startswith("{"):
        if '"execution_time"' in text:
            return "metis"
        return "json" if '"layers"' in text and '"hidden_size"' not in text else "config"
    if HEADER in text:
        return "megatron"
    if LINE in text and f"{FORWARD}:" in text:
        return "deepspeed"
    first = next((line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")), "")
    cells = [cell.strip() for cell in first.replace("\t", ",").split(",")]
    table = name.lower().endswith((".csv", ".tsv")) or any(cell in COLUMNS for cell in cells)
    return "csv" if table else "config"
