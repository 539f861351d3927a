"""What the first line of a summary claims: a value that was reached, and a bound that cannot be beaten."""

from __future__ import annotations

import re
from typing import NamedTuple

STATUS = re.compile(
    r"(?P<status>OPTIMAL|FEASIBLE) +\w+ (?P<value>[\d,.]+) ms(?:, no schedule can beat (?P<bound>[\d,.]+))?"
)


class Claim(NamedTuple):
    """No schedule is below `bound`, one has `value`; ms."""

    bound: float
    value: float

    @property
    def width(self) -> float:
        """What is left open."""
        return self.value - self.bound


def claim_in(line: str) -> Claim | None:
    """Read the claim of a line, if it makes one."""
    found = STATUS.match(line)
    if found is None:
        return None
    value = float(found["value"].replace(",", ""))
    if found["status"] == "OPTIMAL":
        return Claim(value, value)
    return Claim(0.0 if found["bound"] is None else float(found["bound"].replace(",", "")), value)


def contradict(one: Claim, other: Claim) -> bool:
    """Whether two claims cannot both be true of one problem: one has a value below the other's bound."""
    return one.value < other.bound or other.value < one.bound
