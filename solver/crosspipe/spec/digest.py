"""The digest that names a spec: the same for every way of writing it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosspipe.spec.model import Spec

_MEANING = "crosspipe spec 1"
"""What the fields mean; changes when an old spec would mean something else."""


def spec_digest(spec: Spec) -> str:
    """Name a spec by the SHA-256 of its canonical JSON, in hexadecimal.

    Defaults are left out, so that writing one out changes nothing and a field added later leaves old digests as they
    are. The order of fields does not matter; that of the sites does, as devices are numbered in it.
    """
    document = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    document["sites"] = list(document["sites"].items())
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(f"{_MEANING}\n{text}".encode()).hexdigest()
