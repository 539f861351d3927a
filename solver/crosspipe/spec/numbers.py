"""Numbers of a spec: read as exact decimals, kept within bounds, written back as the number a person would write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError, core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue

MOST_DIGITS = 60
"""Most significant digits of a number; no measurement has as many, and longer ones only cost time."""

LARGEST_EXPONENT = 400
"""Largest power of ten, up or down; every double lies within it."""

ORDINARY_RULE = (
    f"must be a finite number, of at most {MOST_DIGITS} digits and with no exponent beyond {LARGEST_EXPONENT}"
)

WHOLE_KEY = re.compile(r"0|[1-9][0-9]{0,8}")


class UnreadableNumber(str):
    """The text of a number too large or too small even for `Decimal`; kept to be shown in a fault."""

    __slots__ = ()


def number_from_text(text: str) -> int | Decimal | UnreadableNumber:
    """Read digits exactly, as a whole number where there is neither point nor exponent."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return UnreadableNumber(text)
    return int(value) if len(text) <= MOST_DIGITS and text.lstrip("+-").isdigit() else value


def is_ordinary(value: float | Decimal) -> bool:
    """Whether a number is finite and of a size and precision that exact arithmetic handles at once."""
    if isinstance(value, int):
        return value.bit_length() < LARGEST_EXPONENT * 3
    _, digits, exponent = (Decimal(repr(value)) if isinstance(value, float) else value).as_tuple()
    return isinstance(exponent, int) and len(digits) <= MOST_DIGITS and abs(exponent) <= LARGEST_EXPONENT


def plain_number(value: Decimal) -> int | float:
    """Write a decimal as the JSON number a person would write.

    Numbers of up to 15 significant digits, and all that came from a double, are written exactly; others as the nearest
    double.
    """
    return int(value) if value == value.to_integral_value() else float(value)


def plain_text(value: Decimal) -> str:
    """Write a decimal for people: no exponent, no trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def broken(rule: str, nearest: object = None) -> PydanticCustomError:
    """Make the error of one field: the rule in words and the nearest legal value."""
    text = None if nearest is None else str(nearest)
    return PydanticCustomError("rule", "{rule}", {"rule": rule, "nearest": text})


@dataclass(frozen=True, slots=True)
class Number:
    """Annotation of a `Decimal` field: its unit and bounds.

    Attributes
    ----------
    unit
        As in messages, empty for a plain factor.
    at_least, above, at_most, below
        Bounds, None for none.
    """

    unit: str = ""
    at_least: Decimal | None = None
    above: Decimal | None = None
    at_most: Decimal | None = None
    below: Decimal | None = None

    def read(self, value: object) -> Decimal:
        """Read a JSON or YAML number exactly; booleans and text are no numbers.

        Raises
        ------
        PydanticCustomError
            If the value is no finite number, or out of bounds.
        """
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise broken("must be a number", _as_number(value))
        if not is_ordinary(value):
            raise broken(ORDINARY_RULE)
        number = _written_out(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
        if self.at_least is not None and number < self.at_least:
            raise broken(f"must be at least {self._show(self.at_least)}", plain_text(self.at_least))
        if self.above is not None and number <= self.above:
            raise broken(f"must be above {self._show(self.above)}")
        if self.at_most is not None and number > self.at_most:
            raise broken(f"must be at most {self._show(self.at_most)}", plain_text(self.at_most))
        if self.below is not None and number >= self.below:
            raise broken(f"must be below {self._show(self.below)}")
        return number

    def _show(self, bound: Decimal) -> str:
        return f"{plain_text(bound)} {self.unit}".rstrip()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Read with `read`, write to JSON with `plain_number`."""
        return core_schema.no_info_plain_validator_function(
            self.read,
            serialization=core_schema.plain_serializer_function_ser_schema(plain_number, when_used="json"),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """State type and bounds."""
        bounds = {
            "minimum": self.at_least,
            "exclusiveMinimum": self.above,
            "maximum": self.at_most,
            "exclusiveMaximum": self.below,
        }
        return {"type": "number"} | {name: plain_number(bound) for name, bound in bounds.items() if bound is not None}


@dataclass(frozen=True, slots=True)
class Whole:
    """Annotation of an `int` field and its bounds; `24.0` is read as 24.

    Attributes
    ----------
    at_least, at_most
        Bounds, both legal.
    key
        True if the number is the key of a mapping, which JSON writes as text.
    """

    at_least: int
    at_most: int
    key: bool = False

    def read(self, value: object) -> int:
        """Read a whole number.

        Raises
        ------
        PydanticCustomError
            If the value is no whole number, or out of bounds.
        """
        if self.key and isinstance(value, str) and WHOLE_KEY.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise broken("must be a whole number", None if self.key else _as_number(value))
        if not is_ordinary(value):
            raise broken("must be a whole number")
        if value < self.at_least:
            raise broken(f"must be at least {self.at_least}", self.at_least)
        if value > self.at_most:
            raise broken(f"must be at most {self.at_most}", self.at_most)
        if value != int(value):
            raise broken("must be a whole number", min(max(round(value), self.at_least), self.at_most))
        return int(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Read with `read`."""
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """State type and bounds; a key is text of digits."""
        if self.key:
            return {"type": "string", "pattern": f"^({WHOLE_KEY.pattern})$"}
        return {"type": "integer", "minimum": self.at_least, "maximum": self.at_most}


def _written_out(value: Decimal) -> Decimal:
    """Write `1E+3` as 1000, so that messages show what people write."""
    return Decimal(int(value)) if value == value.to_integral_value() else value


def _as_number(value: object) -> str | None:
    """Guess the number that a text stands for: digits in quotes, or with digit separators."""
    if not isinstance(value, str) or len(value) > MOST_DIGITS:
        return None
    text = value.strip().replace("_", "").replace(",", "")
    return text if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text) else None
