"""The digest that names a spec: the same for every way of writing it."""

from __future__ import annotations

import hashlib
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from crosspipe.spec.numbers import plain_number, plain_text

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

_MEANING = "crosspipe spec 1"
"""What the fields mean; changes when an old spec would mean something else."""


def spec_digest(spec: Spec) -> str:
    """Name a spec by the SHA-256 of its canonical JSON, in hexadecimal.

    Defaults are left out, so that writing one out changes nothing and a field added later leaves old digests as they
    are. The order of fields does not matter; that of the sites does, as devices are numbered in it.
    """
    document = _plain(spec.model_dump(mode="python", by_alias=True, exclude_defaults=True))
    document["sites"] = list(document["sites"].items())
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(f"{_MEANING}\n{text}".encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Write a value as JSON data; numbers that no double holds exactly are written as text: each digit counts."""
    if isinstance(value, Decimal):
        number = plain_number(value)
        return number if Decimal(repr(number)) == value else plain_text(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
