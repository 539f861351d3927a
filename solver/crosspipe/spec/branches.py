"""Which form of a field the user meant, so that a fault speaks of that form alone.

Each tag stands between angle brackets, as no field of a spec does; faults leave them out of their pointers.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel

NAME: Final = "<name>"
STAGES: Final = "<stages>"
LAYERS: Final = "<layers>"
CONFIG: Final = "<config>"
COUNT: Final = "<count>"
LIST: Final = "<list>"
WORD: Final = "<word>"
UNLIKE: Final = "<unlike>"

TAGS: Final = frozenset({NAME, STAGES, LAYERS, CONFIG, COUNT, LIST, WORD, UNLIKE})

CONFIG_FIELDS: Final = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "model_type",
    "architectures",
    "n_embd",
)
"""Fields by any of which a Hugging Face config is known."""

GPT2_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "n_embd": "hidden_size",
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
        "n_inner": "intermediate_size",
    }
)
"""What GPT-2's configuration calls the fields of the rest."""


def plain_config(value: object) -> object:
    """Name the fields of a GPT-2 configuration as the others do; its MLP is four times as wide unless told."""
    if not isinstance(value, Mapping) or "n_embd" not in value:
        return value
    found = {GPT2_NAMES.get(str(key), key): entry for key, entry in value.items()}
    width = found["hidden_size"]
    if found.get("intermediate_size") is None and isinstance(width, int):
        found["intermediate_size"] = 4 * width
    return found


def model_tag(value: object) -> str | None:
    """Tell a catalogue name, measured stages, measured layers and a config apart; None for none of them."""
    if isinstance(value, str):
        return NAME
    names = _field_names(value)
    if names is None:
        return None
    for tag, fields in ((STAGES, ("stages",)), (LAYERS, ("layers",)), (CONFIG, CONFIG_FIELDS)):
        if any(field in names for field in fields):
            return tag
    meant = {"stages": STAGES, "layers": LAYERS, "hidden_size": CONFIG}
    return next((meant[near] for name in names for near in get_close_matches(name, meant, n=1, cutoff=0.7)), None)


def stages_tag(value: object) -> str:
    """Tell a list of unlike stages from a count of like ones."""
    return LIST if isinstance(value, list | tuple) else COUNT


def microbatches_tag(value: object) -> str:
    """Tell unlike microbatches from a count of like ones."""
    return UNLIKE if _field_names(value) is not None else COUNT


def degree_tag(value: object) -> str:
    """Tell the word `auto` from a count."""
    return WORD if isinstance(value, str) else COUNT


def cut_tag(value: object) -> str:
    """Tell a word from the layers of each stage."""
    return WORD if isinstance(value, str) else LIST


def caps_tag(value: object) -> str:
    """Tell one cap per stage from one for all."""
    return LIST if isinstance(value, list | tuple) else COUNT


def _field_names(value: object) -> list[str] | None:
    if isinstance(value, BaseModel):
        return list(type(value).model_fields)
    return [str(key) for key in value] if isinstance(value, Mapping) else None
