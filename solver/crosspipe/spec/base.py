"""The base of every spec model: frozen, no unknown fields, numbers read as exact decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

LARGEST_MS = Decimal(10) ** 12
"""Largest duration accepted, about 32 years: sums over a whole schedule then stay within 64-bit nanoseconds."""

LARGEST_MB = Decimal(10) ** 12
"""Largest size accepted, 10^18 bytes: the sum over a device then stays within 64-bit bytes."""


class SpecModel(BaseModel):
    """A frozen model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True)


def read_number(value: Any) -> Any:
    """Read a JSON or YAML number exactly; refuse booleans, text, NaN and infinities.

    Raises
    ------
    ValueError
        If the value is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a number")
    if isinstance(value, int):
        return Decimal(value)
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return Decimal(repr(value)) if isinstance(value, float) else value


def plain_number(value: Decimal) -> int | float:
    """Write a decimal as the JSON number a person would write."""
    return int(value) if value == value.to_integral_value() else float(value)


def _number(**bounds: float | Decimal) -> tuple[Any, ...]:
    names = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    schema: dict[str, Any] = {"type": "number"} | {names[key]: plain_number(Decimal(v)) for key, v in bounds.items()}
    return (
        BeforeValidator(read_number),
        Field(**bounds),  # type: ignore[arg-type]  # bounds are exactly Field's numeric keywords
        PlainSerializer(plain_number, when_used="json"),
        WithJsonSchema(schema),
    )


Ms = Annotated[Decimal, *_number(ge=0, le=LARGEST_MS)]
"""A duration in milliseconds, zero allowed."""

PositiveMs = Annotated[Decimal, *_number(gt=0, le=LARGEST_MS)]
"""A duration in milliseconds above zero."""

Mb = Annotated[Decimal, *_number(ge=0, le=LARGEST_MB)]
"""A size in megabytes of 10^6 bytes."""

Gb = Annotated[Decimal, *_number(ge=0, le=LARGEST_MB / 1000)]
"""A size in gigabytes of 10^9 bytes."""

Gbps = Annotated[Decimal, *_number(gt=0, le=10**9)]
"""A bandwidth in 10^9 bits per second."""

Factor = Annotated[Decimal, *_number(gt=0, le=10**6)]
"""A factor that multiplies times or sizes."""

Fraction01 = Annotated[Decimal, *_number(ge=0, lt=1)]
"""A fraction of a whole, one excluded."""

Price = Annotated[Decimal, *_number(ge=0, le=10**9)]
"""A price per hour in the user's currency."""

Count = Annotated[int, Field(ge=1, le=10**6, strict=True)]
"""A count of things, at least one."""

Index = Annotated[int, Field(ge=0, le=10**6, strict=True)]
"""A number that names a stage, a layer or a replica, from zero."""

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]
"""A name without control characters."""
