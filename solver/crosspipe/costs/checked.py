"""Building parts of the expanded spec from computed numbers, which may leave the range a spec accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from crosspipe.errors import Fault, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosspipe.spec.base import SpecModel

Model = TypeVar("Model", bound="SpecModel")


def checked(model: type[Model], values: Mapping[str, object], pointer: str) -> Model:
    """Build `model` from computed values.

    Raises
    ------
    TooLargeError
        If a value is out of the range of its field: `pointer` then names the part of the spec it was computed from.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = []
        for detail in error.errors(include_url=False):
            name = ".".join(map(str, detail["loc"]))
            rule = f"the numbers computed from it stay in range: {name} {detail['msg']}"
            faults.append(Fault(pointer, rule, str(detail["input"])))
        raise TooLargeError(faults) from error
