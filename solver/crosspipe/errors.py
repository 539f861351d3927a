"""The error tree: every error of the library has a stable code and says where, which rule, what value, what is nearest.

Catch `CrossPipeError` to catch them all; catch `SpecError` for input a person can mend.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken rule in an input document.

    Attributes
    ----------
    pointer
        JSON Pointer (RFC 6901) to the field at fault, `""` for the whole document.
    rule
        The rule in words, as it should read when obeyed.
    value
        The offending value as text, or None where there is none to show.
    nearest
        The nearest legal value or spelling as text, or None where there is none.
    """

    pointer: str
    rule: str
    value: str | None = None
    nearest: str | None = None

    def __str__(self) -> str:
        """Render as one line: path, rule, value, nearest legal value."""
        text = f"{self.pointer or '/'}: {self.rule}"
        if self.value is not None:
            text += f" (got {self.value})"
        if self.nearest is not None:
            text += f"; nearest legal: {self.nearest}"
        return text


class CrossPipeError(Exception):
    """Base of all errors raised on purpose by CrossPipe."""

    code: ClassVar[str] = "crosspipe_error"


class InputError(CrossPipeError):
    """An input document broke one or more rules; `faults` lists every one found."""

    code: ClassVar[str] = "invalid_input"

    def __init__(self, faults: list[Fault] | tuple[Fault, ...]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class SpecError(InputError):
    """The cluster spec is malformed, contradictory or empty."""

    code: ClassVar[str] = "invalid_spec"


class SpecSyntaxError(SpecError):
    """The document is not JSON or YAML at all, or uses a YAML feature that is refused."""

    code: ClassVar[str] = "invalid_syntax"


class TooLargeError(SpecError):
    """The spec is well formed but asks for more operations than this installation accepts."""

    code: ClassVar[str] = "too_large"


class ScheduleFormatError(InputError):
    """A schedule document cannot be read as a list of operations."""

    code: ClassVar[str] = "invalid_schedule"


class DeadlockError(CrossPipeError):
    """The given orders wait for each other in a circle and can never run.

    `cycle` holds operation numbers of the problem, in waiting order.
    """

    code: ClassVar[str] = "deadlock"

    def __init__(self, message: str, cycle: tuple[int, ...]) -> None:
        self.cycle = cycle
        super().__init__(message)


class NeverOpensError(CrossPipeError):
    """A transfer waits for a lane that never again opens for long enough."""

    code: ClassVar[str] = "lane_never_opens"


class DoesNotFitError(CrossPipeError):
    """A way of building schedules has none for this problem; the message says what it needs and what there is."""

    code: ClassVar[str] = "does_not_fit"


class OptionError(InputError):
    """An option of the solve (objective, time limit, gap, ...) is out of range."""

    code: ClassVar[str] = "invalid_option"


class ExportError(CrossPipeError):
    """A schedule cannot be written in the format asked for; the message says which rule of the format it breaks."""

    code: ClassVar[str] = "cannot_export"


class InvalidModelError(CrossPipeError):
    """The solver refused the model it was given: a fault of CrossPipe, never of its input."""

    code: ClassVar[str] = "invalid_model"
