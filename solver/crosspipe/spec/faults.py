"""Faults of a spec: where, which rule, what value, what is nearest."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Final

from crosspipe.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_VALUE = 80
"""Most characters of a value shown in a fault."""

MOST_SPELLINGS = 1000
"""Most legal spellings compared with a wrong one."""

MOST_FAULTS = 100
"""Most faults listed; who made more made one mistake many times."""

Path = tuple[str | int, ...]
"""Way to a field: names and list indices from the top of the document."""


class _Absent(Enum):
    ABSENT = 0


ABSENT: Final = _Absent.ABSENT
"""Stands for no value to show; None is a value."""


def pointer(path: Path) -> str:
    """Write a path as a JSON Pointer (RFC 6901)."""
    return "".join("/" + _printable(str(part)).replace("~", "~0").replace("/", "~1") for part in path)


def fault(path: Path, rule: str, value: object = ABSENT, nearest: object = None) -> Fault:
    """Make the fault of the field at `path`."""
    return Fault(
        pointer(path),
        rule,
        None if value is ABSENT else shown(value),
        None if nearest is None else shown(nearest) if isinstance(nearest, Decimal) else str(nearest),
    )


def first_faults(found: Iterable[Fault]) -> list[Fault]:
    """List the first 100 faults, each once, and say if there are more; no more than that is looked for."""
    unlike: dict[Fault, None] = {}
    for each in found:
        if len(unlike) == MOST_FAULTS and each not in unlike:
            return [*unlike, Fault("", f"more than {MOST_FAULTS} faults: the others are not listed")]
        unlike[each] = None
    return list(unlike)


def closest(word: str, legal: Iterable[str]) -> str | None:
    """Find the legal spelling that is nearest to a word, None if none is near."""
    plain = {name.lower().replace("_", ""): name for name in islice(legal, MOST_SPELLINGS)}
    found = get_close_matches(word[:200].lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def shown(value: object) -> str:
    """Show a value in at most 80 characters."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _shortened(f"'{_printable(value[: LONGEST_VALUE + 1])}'")
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST_VALUE:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, int | float | Decimal):
        return _shortened(_plain(value))
    if isinstance(value, Mapping):
        return f"a mapping of {len(value)}"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    return _shortened(f"a {type(value).__name__}")


def _plain(value: float | Decimal) -> str:
    text = str(value)
    if not isinstance(value, Decimal) or not value.is_finite() or abs(value.adjusted()) > LONGEST_VALUE // 2:
        return text
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def _printable(text: str) -> str:
    """Escape what UTF-8 cannot hold, so that a fault can always be written."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
