"""A profile as the text of a spec to start from: its model, and two sites to be replaced by one's own."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from crosspipe.spec.numbers import plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crosspipe.costs.profiles.profile import Profile

DEVICES = 4
"""Devices of the sites where layers are still to be cut, if there are as many layers."""

MICROBATCHES = 16

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
"""Words that YAML takes for something else than text."""

SPEC = """\
# From {source}. Sites, link and microbatches are stand-ins: put your own in their place.
{notes}model:
{model}training: {{microbatches: {microbatches}}}
sites:
{sites}"""

LINK = "links:\n  - {between: [east, west], bandwidth_gbps: 100, one_way_latency_ms: 15}\n"


def profile_spec(profile: Profile, source: str, microbatches: int | None, stages: int | None) -> str:
    """Write a spec of a profile on two sites, or on one where there is a single stage; `source` names the file."""
    source = "".join(letter if letter.isprintable() else "?" for letter in source)
    rows = profile.model.get("layers")
    layers = sum(cast("int", row.get("repeat", 1)) for row in rows) if isinstance(rows, list) else None
    count = profile.stages or stages or min(DEVICES, layers or DEVICES)
    east = (count + 1) // 2
    sites = [("east", east), ("west", count - east)]
    text = SPEC.format(
        source=source,
        notes="".join(f"# Missing: {each}.\n" for each in profile.missing),
        model=_model(profile.model),
        microbatches=microbatches or MICROBATCHES,
        sites="".join(f"  {name}: {{devices: {devices}}}\n" for name, devices in sites if devices),
    )
    return text + (LINK if count > 1 else "")


def with_boundary(profile_model: Mapping[str, object], boundary_mb: Decimal) -> dict[str, object]:
    """Give every layer or stage a message of this size that has none."""
    ((form, given),) = profile_model.items()
    if isinstance(given, dict):
        return {form: {"boundary_mb": boundary_mb, **given}}
    rows = cast("Sequence[Mapping[str, object]]", given)
    return {form: [{"boundary_mb": boundary_mb, **row} for row in rows]}


def _model(model: Mapping[str, object]) -> str:
    ((form, given),) = model.items()
    if isinstance(given, dict):
        return f"  {form}: {flow(given)}\n"
    rows = cast("Sequence[Mapping[str, object]]", given)
    return f"  {form}:\n" + "".join(f"    - {flow(row)}\n" for row in rows)


def flow(value: object) -> str:
    """Write a value in one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, Decimal):
        return plain_text(value)
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
