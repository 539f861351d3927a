"""`Profile`: what was read from a file, as the `model` of a spec, and what has to be known about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from crosspipe.errors import Fault, InputError
from crosspipe.spec.faults import shown

if TYPE_CHECKING:
    from collections.abc import Mapping


class ProfileError(InputError):
    """A measured profile cannot be read; each fault names the file, the line or field, and the rule."""

    code: ClassVar[str] = "invalid_profile"


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as a model.

    Attributes
    ----------
    model
        The field `model` of a spec: measured `layers` or `stages`.
    stages
        Number of stages, None where layers are still to be cut.
    told
        What the file says that the spec does not hold.
    assumed
        What was assumed to fill it in.
    missing
        What the file does not say and nothing stands for.
    """

    model: Mapping[str, object]
    stages: int | None
    told: tuple[str, ...]
    assumed: tuple[str, ...]
    missing: tuple[str, ...]


def refused(place: str, rule: str, value: object = None, nearest: object = None) -> ProfileError:
    """Make the error of one place of a file, such as `layers.csv line 3`."""
    near = None if nearest is None else str(nearest)
    return ProfileError([Fault(place, rule, None if value is None else shown(value), near)])


NO_BOUNDARY = (
    "boundary_mb: messages between stages take no time until you give it (`--boundary-mb`): bytes of the tensor that "
    "goes to the next stage, microbatch x sequence length x hidden size x 2 in bf16, in MB"
)
