"""Documentation of each error, at the address that every problem document names as its type."""

from __future__ import annotations

from fastapi import APIRouter

from crosspipe_service.errors.catalogue import CATALOGUE, KINDS, ErrorKind
from crosspipe_service.errors.exceptions import UnknownErrorCodeError
from crosspipe_service.errors.responses import problems

router = APIRouter(prefix="/v1/errors", tags=["errors"])


@router.get("", summary="List every kind of error")
async def list_errors() -> list[ErrorKind]:
    """List every error this service answers with."""
    return list(KINDS)


@router.get("/{code}", summary="Explain an error", responses=problems("not_found"))
async def explain_error(code: str) -> ErrorKind:
    """Tell what an error means and what to do about it."""
    if code not in CATALOGUE:
        raise UnknownErrorCodeError(f"There is no error with the code {code!r}.")
    return CATALOGUE[code]
