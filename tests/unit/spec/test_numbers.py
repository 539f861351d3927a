"""Numbers: exact, bounded, and never a surprise of type."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import TypeAdapter, ValidationError

from crosspipe.spec.base import Count, Flag, Fraction01, IndexKey, Ms, Name, PositiveMs
from crosspipe.spec.numbers import plain_number, plain_text


def read(kind, value):
    return TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize("value", [12, 12.0, Decimal("12.0"), Decimal("1.2e1")])
def test_every_way_of_writing_a_number(value):
    assert read(Ms, value) == Decimal(12)
    assert str(read(Ms, value)) == "12"


def test_a_float_is_its_shortest_decimal():
    assert read(Ms, 0.1) == Decimal("0.1")
    assert read(Ms, 18.522) == Decimal("18.522")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Ms, True),
        (Ms, "12"),
        (Ms, None),
        (Ms, [12]),
        (Ms, -1),
        (Ms, 10**13),
        (Ms, float("nan")),
        (Ms, Decimal("sNaN")),
        (Ms, Decimal("1e-500")),
        (PositiveMs, 0),
        (PositiveMs, Decimal("0.0000009")),
        (Fraction01, 1),
        (Fraction01, -0.1),
        (Count, 0),
        (Count, True),
        (Count, 1.5),
        (Count, "3"),
        (Count, Decimal("1e300")),
        (Count, 10**6 + 1),
        (Count, float("inf")),
        (IndexKey, "01"),
        (IndexKey, "-1"),
        (IndexKey, "x"),
        (IndexKey, "999999999"),
        (Flag, 1),
        (Flag, "true"),
        (Name, ""),
        (Name, "a\nb"),
        (Name, 3),
        (Name, "x" * 201),
    ],
)
def test_refused(kind, value):
    with pytest.raises(ValidationError):
        read(kind, value)


def test_keys_are_text_or_numbers():
    assert read(IndexKey, "12") == read(IndexKey, 12) == 12


def test_written_as_people_write():
    assert plain_number(Decimal("12.50")) == 12.5
    assert isinstance(plain_number(Decimal("12.0")), int)
    assert plain_text(Decimal("1E+3")) == "1000"
    assert plain_text(Decimal("0.000001")) == "0.000001"
    assert plain_text(Decimal("2.50")) == "2.5"
