"""What verification comes to, how it refuses, and how much work it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from crosspipe.errors import CrossPipeError

MOST_WORK = 3 * 10**10
"""Elementary steps (some 10 ns each) one verification may take: a few minutes at most."""

PYTHON_STEP = 100
"""Elementary steps that one step of an interpreted loop counts for."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a certificate.

    Attributes
    ----------
    ok
        Whether the bound it states was derived again.
    bound_ns
        The bound that was derived: the one stated if `ok`, else a smaller one that the certificate carries along, else
        None. None as well if it was derived that no schedule exists.
    reason
        In words: how the bound was derived, or what is wrong.
    outcome
        `verified`, `solver alone` (the bound is a solver's word; what could be derived is in `bound_ns`) or `refused`.
    """

    ok: bool
    bound_ns: int | None
    reason: str
    outcome: Literal["verified", "solver alone", "refused"]


class RefusedError(CrossPipeError):
    """A certificate does not prove what it states."""

    code: ClassVar[str] = "certificate_refused"


class Budget:
    """Work that is left; running out refuses the certificate."""

    def __init__(self, work: int) -> None:
        self._left = work

    def spend(self, work: int) -> None:
        """Take some of it.

        Raises
        ------
        RefusedError
            If there is not as much left.
        """
        self._left -= work
        if self._left < 0:
            raise RefusedError("it takes more work to derive this bound again than is allowed")
