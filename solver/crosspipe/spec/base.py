"""The base of every spec model, frozen and without unknown fields, and the types of its fields."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from crosspipe.spec.numbers import Number, Whole, plain_number

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

LARGEST_MS = Decimal(10) ** 12
"""Largest duration accepted, about 32 years, or 10^18 nanoseconds."""

LARGEST_MB = Decimal(10) ** 12
"""Largest size accepted, 10^18 bytes."""

NANOSECOND_MS = Decimal("0.000001")
"""The unit of the compiled problem: what is shorter would round to nothing."""


class SpecModel(BaseModel):
    """A frozen model that refuses unknown fields."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Write decimal defaults as numbers, where pydantic would write text."""
        found = handler(schema)
        properties = handler.resolve_ref_schema(found)["properties"]
        for name, field in cls.model_fields.items():
            if isinstance(field.default, Decimal):
                properties[field.alias or name]["default"] = plain_number(field.default)
        return found


Ms = Annotated[Decimal, Number("ms", at_least=Decimal(0), at_most=LARGEST_MS)]
"""A duration in milliseconds, zero allowed."""

PositiveMs = Annotated[Decimal, Number("ms", at_least=NANOSECOND_MS, at_most=LARGEST_MS)]
"""A duration in milliseconds, at least one nanosecond."""

Mb = Annotated[Decimal, Number("MB", at_least=Decimal(0), at_most=LARGEST_MB)]
"""A size in megabytes of 10^6 bytes."""

Gb = Annotated[Decimal, Number("GB", at_least=Decimal(0), at_most=LARGEST_MB / 1000)]
"""A size in gigabytes of 10^9 bytes."""

Gbps = Annotated[Decimal, Number("Gb/s", at_least=Decimal("0.000000001"), at_most=Decimal(10**9))]
"""A bandwidth in 10^9 bits per second, at least one bit per second."""

Tflops = Annotated[Decimal, Number("TFLOP/s", above=Decimal(0), at_most=Decimal(10**6))]
"""A compute rate in 10^12 operations per second, dense."""

Factor = Annotated[Decimal, Number("", above=Decimal(0), at_most=Decimal(10**6))]
"""A factor that multiplies times or sizes."""

Fraction01 = Annotated[Decimal, Number("", at_least=Decimal(0), below=Decimal(1))]
"""A fraction of a whole, one excluded."""

Share = Annotated[Decimal, Number("", above=Decimal(0), at_most=Decimal(1))]
"""Share of a whole, above zero."""

Millions = Annotated[Decimal, Number("million", at_least=Decimal(0), at_most=Decimal(10**9))]
"""A count in millions."""

Price = Annotated[Decimal, Number("per hour", at_least=Decimal(0), at_most=Decimal(10**9))]
"""A price per hour in the user's currency."""

Count = Annotated[int, Whole(1, 10**6)]
"""A count of things, at least one."""

Index = Annotated[int, Whole(0, 10**6)]
"""A number that names a stage, a layer or a replica, from zero."""

IndexKey = Annotated[int, Whole(0, 10**6, key=True)]
"""An index as the key of a mapping."""

Flag = Annotated[bool, Field(strict=True)]
"""True or false; no other spelling."""

Name = Annotated[str, Field(strict=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]
"""A name without control characters."""

__all__ = [
    "LARGEST_MB",
    "LARGEST_MS",
    "NANOSECOND_MS",
    "Count",
    "Factor",
    "Flag",
    "Fraction01",
    "Gb",
    "Gbps",
    "Index",
    "IndexKey",
    "Mb",
    "Millions",
    "Ms",
    "Name",
    "PositiveMs",
    "Price",
    "Share",
    "SpecModel",
    "Tflops",
    "plain_number",
]
