"""The problem document (RFC 9457) and the response that carries it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING
from uuid import uuid4

from fastapi import Response
from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crosspipe.errors import Fault
    from crosspipe_service.errors.catalogue import ErrorKind

PROBLEM_JSON = "application/problem+json"

MOST_ERRORS = 100
"""Broken rules listed; a document broken throughout says the same thing over and over."""


class FieldError(BaseModel):
    """One broken rule."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    pointer: str | None
    """JSON Pointer to the field in the body; `""` is the whole of it; null where a query parameter is at fault"""
    parameter: str | None
    """Name of the query parameter at fault; null where the body is"""
    rule: str
    """The rule as it reads when obeyed"""
    value: str | None
    """The offending value as text; null where there is none to show"""
    nearest: str | None
    """The nearest legal value or spelling; null where there is none"""


class ProblemDocument(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    type: str
    """Address of the documentation of this kind of error"""
    title: str
    """What went wrong, the same for every occurrence of the code"""
    status: int
    """HTTP status"""
    detail: str
    """What went wrong this time"""
    instance: str
    """Name of this occurrence; the log of the service has it for errors of its own"""
    code: str
    """Stable name of the kind of error"""
    errors: list[FieldError]
    """Every broken rule (the first 100); empty where no field is at fault"""


class ProblemResponse(Response):
    """A problem document as a response."""

    media_type = PROBLEM_JSON


def body_errors(faults: Iterable[Fault], under: str = "") -> list[FieldError]:
    """Show faults of the body; `under` is the pointer to the part of it that they are about."""
    return [
        FieldError(pointer=under + f.pointer, parameter=None, rule=f.rule, value=f.value, nearest=f.nearest)
        for f in faults
    ]


def parameter_errors(faults: Iterable[Fault]) -> list[FieldError]:
    """Show faults of query parameters, whose pointers are `/name`."""
    return [
        FieldError(pointer=None, parameter=f.pointer.lstrip("/"), rule=f.rule, value=f.value, nearest=f.nearest)
        for f in faults
    ]


def problem(
    kind: ErrorKind,
    detail: str,
    errors: Iterable[FieldError] = (),
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    instance: str | None = None,
) -> ProblemResponse:
    """Make the response of an error; `status` stands where it differs from the usual one of the kind."""
    document = ProblemDocument(
        type=f"/v1/errors/{kind.code}",
        title=kind.title,
        status=status or kind.status,
        detail=detail,
        instance=instance or new_instance(),
        code=kind.code,
        errors=list(islice(errors, MOST_ERRORS)),
    )
    return ProblemResponse(document.model_dump_json(), document.status, dict(headers or {}))


def new_instance() -> str:
    """Name an occurrence."""
    return f"urn:uuid:{uuid4()}"
