"""Values of an axis as written on a command line: `32,40,48`, `0:30:5` (both ends included), `1x:4x:0.5x`."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, OptionError
from crosspipe.spec.numbers import is_ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_VALUES = 1000
"""Values of one range; more would be a slip of the pen."""


def numbers(option: str, text: str, suffix: str = "") -> list[Decimal]:
    """Read numbers, ranges of them, or both.

    Parameters
    ----------
    option
        The option they were given for, as named in errors.
    text
        What was written.
    suffix
        Letters that may follow each number (`x` of a factor).

    Raises
    ------
    OptionError
        If a part is neither a number nor a range, or a range never ends.
    """
    return [value for part in text.split(",") for value in _part(option, part.strip(), suffix)]


def _part(option: str, part: str, suffix: str) -> Iterator[Decimal]:
    ends = [_number(option, end, suffix) for end in part.split(":")]
    if len(ends) == 1:
        yield ends[0]
        return
    if len(ends) != 3:
        raise _wrong(option, "must be a number or a range first:last:step", part)
    first, last, step = ends
    if step <= 0 or last < first:
        raise _wrong(option, "must rise from the first to the last by a step above 0", part)
    if (last - first) / step >= MOST_VALUES:
        raise _wrong(option, f"must hold at most {MOST_VALUES} values", part)
    while first <= last:
        yield first
        first += step


def _number(option: str, text: str, suffix: str) -> Decimal:
    try:
        value = Decimal(text.strip().removesuffix(suffix))
    except InvalidOperation:
        raise _wrong(option, "must be a number or a range first:last:step", text) from None
    if not is_ordinary(value):
        raise _wrong(option, "must be an ordinary number", text)
    return value


def _wrong(option: str, rule: str, text: str) -> OptionError:
    return OptionError([Fault(f"/{option}", rule, text)])
