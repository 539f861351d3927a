"""Turns the exceptions that leave an endpoint into problem documents; a traceback goes to the log alone."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from crosspipe.errors import CrossPipeError, InputError, OptionError
from crosspipe_service.errors.catalogue import CATALOGUE, INTERNAL, kind_of_status
from crosspipe_service.errors.document import body_errors, new_instance, parameter_errors, problem
from crosspipe_service.errors.exceptions import ServiceError
from crosspipe_service.errors.parameters import parameter_faults

if TYPE_CHECKING:
    from collections.abc import Collection

    from fastapi import FastAPI, Request

    from crosspipe_service.errors.document import ProblemResponse

LOG = logging.getLogger("crosspipe_service")


def install_handlers(app: FastAPI, known_parameters: Collection[str]) -> None:
    """Let the application answer expected errors with problem documents; typos are near to `known_parameters`."""
    app.add_exception_handler(CrossPipeError, answer_known)
    app.add_exception_handler(RequestValidationError, partial(answer_parameters, known=known_parameters))
    app.add_exception_handler(HTTPException, answer_http)


async def answer_known(request: Request, error: Exception) -> ProblemResponse:
    """Answer an error of the library or the service by its code."""
    kind = CATALOGUE.get(error.code) if isinstance(error, CrossPipeError) else None
    if kind is None or kind is INTERNAL:
        return await answer_unknown(request, error)
    if isinstance(error, OptionError):
        return problem(kind, _summary(error), parameter_errors(error.faults))
    if isinstance(error, InputError):
        return problem(kind, _summary(error), body_errors(error.faults))
    return problem(kind, str(error), headers=error.headers if isinstance(error, ServiceError) else None)


async def answer_parameters(request: Request, error: Exception, known: Collection[str] = ()) -> ProblemResponse:
    """Answer query parameters that the framework refused."""
    if not isinstance(error, RequestValidationError):
        return await answer_unknown(request, error)
    return await answer_known(request, OptionError(parameter_faults(error.errors(), known)))


async def answer_http(request: Request, error: Exception) -> ProblemResponse:
    """Answer an error of the framework: no such path, no such method."""
    if not isinstance(error, HTTPException):
        return await answer_unknown(request, error)
    kind = kind_of_status(error.status_code)
    return problem(kind, str(error.detail), status=error.status_code, headers=error.headers)


async def answer_unknown(request: Request, error: Exception) -> ProblemResponse:
    """Answer a fault of our own: the log has the traceback, the client the name it stands under."""
    instance = new_instance()
    LOG.error("%s %s failed as %s", request.method, request.url.path, instance, exc_info=error)
    return problem(INTERNAL, "Something went wrong inside the service.", instance=instance)


def _summary(error: InputError) -> str:
    first, more = error.faults[0], len(error.faults) - 1
    return f"{first}" if not more else f"{first}; and {more} more"
