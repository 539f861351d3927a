"""Shares of F, B and W in a time that was measured of all three, or of B and W, together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from crosspipe.errors import Fault, OptionError

SHARES: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?):(\d{1,6}(?:\.\d{1,6})?):(\d{1,6}(?:\.\d{1,6})?)")
NANOSECOND_MS: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Shares:
    """Parts of F, B and W; only their ratios count."""

    forward: Decimal = Decimal(3)
    backward_input: Decimal = Decimal(3)
    backward_weight: Decimal = Decimal(2)

    def split(self, total_ms: Decimal) -> dict[str, Decimal]:
        """Cut a time into F, B and W, in whole nanoseconds that add up to it, rounded to one."""
        total_ms = total_ms.quantize(NANOSECOND_MS)
        whole = self.forward + self.backward_input + self.backward_weight
        forward = (total_ms * self.forward / whole).quantize(NANOSECOND_MS)
        backward = (total_ms * self.backward_input / whole).quantize(NANOSECOND_MS)
        rest = total_ms - forward - backward
        return {"forward_ms": forward, "backward_input_ms": backward, "backward_weight_ms": rest}

    @property
    def told(self) -> str:
        """The assumption in words."""
        text = f"F : B : W = {self.forward} : {self.backward_input} : {self.backward_weight} (`--shares`)"
        if self == Shares():
            text += "; measured W is from half of B to three quarters of it (Zero Bubble, arXiv 2401.10241, profiles)"
        return text


def shares_of(text: str) -> Shares:
    """Read `3:3:2`.

    Raises
    ------
    OptionError
        If it is not three numbers above zero.
    """
    found = SHARES.fullmatch(text.strip())
    parts = [Decimal(part) for part in found.groups()] if found else []
    if not parts or min(parts) <= 0:
        raise OptionError([Fault("--shares", "must be three numbers above 0, of F, B and W", repr(text[:40]), "3:3:2")])
    return Shares(*parts)
