"""Every error the service answers with: code, status, title, and what to do about it."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import BaseModel, ConfigDict


class ErrorKind(BaseModel):
    """What an error code stands for."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)

    code: str
    """Stable name; it does not change while `/v1` lives"""
    status: int
    """HTTP status it is sent with"""
    title: str
    """What went wrong, the same for every occurrence"""
    meaning: str
    """When it is sent"""
    remedy: str
    """What to do about it"""


KINDS = (
    ErrorKind(
        code="invalid_syntax",
        status=422,
        title="The body is neither JSON nor YAML",
        meaning="The request body cannot be read as a document, or uses a YAML feature that is refused.",
        remedy="Mend the line and column named in `errors`.",
    ),
    ErrorKind(
        code="invalid_spec",
        status=422,
        title="The cluster spec breaks a rule",
        meaning="The spec is malformed, contradictory or empty. A well-formed spec without any schedule is no error: "
        "it is answered with status `infeasible`.",
        remedy="Mend every field in `errors`: each has its pointer, the rule, the value and the nearest legal one.",
    ),
    ErrorKind(
        code="too_large",
        status=422,
        title="The spec asks for more operations than this installation accepts",
        meaning="The spec is well formed, but stages, microbatches and replicas multiply to too many operations.",
        remedy="Ask for fewer microbatches, stages or replicas.",
    ),
    ErrorKind(
        code="invalid_input",
        status=422,
        title="The input breaks a rule",
        meaning="A part of the input that is neither the spec, a schedule nor an option is malformed.",
        remedy="Mend the places in `errors`.",
    ),
    ErrorKind(
        code="invalid_schedule",
        status=422,
        title="The schedule document cannot be read",
        meaning="The schedule to check is not a list of operations: neither rows nor an answer of CrossPipe.",
        remedy="Mend the places in `errors`.",
    ),
    ErrorKind(
        code="invalid_option",
        status=422,
        title="A parameter of the request breaks a rule",
        meaning="A query parameter, or an option in the body, is unknown, malformed or out of range.",
        remedy="Mend the parameters in `errors`.",
    ),
    ErrorKind(
        code="body_too_large",
        status=413,
        title="The request body is too large",
        meaning="The body has more bytes than the service reads; it was not parsed.",
        remedy="Send a smaller body, or have the operator raise CROSSPIPE_MAX_BODY_BYTES.",
    ),
    ErrorKind(
        code="body_timeout",
        status=408,
        title="The request body did not arrive in time",
        meaning="The whole of the body did not arrive within the time the service waits.",
        remedy="Send it again, faster.",
    ),
    ErrorKind(
        code="unsupported_media_type",
        status=415,
        title="The media type of the body is not read",
        meaning="Content-Type is missing or not one of those in the response header Accept-Post, its charset is not "
        "UTF-8, or the body is compressed.",
        remedy="Send `Content-Type: application/yaml` or `application/json`, in UTF-8, uncompressed.",
    ),
    ErrorKind(
        code="not_found",
        status=404,
        title="There is nothing at this address",
        meaning="The path is not one of the service.",
        remedy="See /docs for the paths.",
    ),
    ErrorKind(
        code="method_not_allowed",
        status=405,
        title="The address does not serve this method",
        meaning="The path exists, but not for this HTTP method.",
        remedy="Use a method from the response header Allow.",
    ),
    ErrorKind(
        code="busy",
        status=503,
        title="Too many requests are being worked on",
        meaning="All places are taken and as many requests wait as may, or a turn did not come in time.",
        remedy="Send it again after the seconds in the response header Retry-After.",
    ),
    ErrorKind(
        code="shutting_down",
        status=503,
        title="The service is about to end",
        meaning="The service has been told to stop and starts no new work.",
        remedy="Send it again after the seconds in the response header Retry-After.",
    ),
    ErrorKind(
        code="client_left",
        status=499,
        title="The client closed the connection",
        meaning="The client left before it was answered; its work was stopped. Only the log ever shows this.",
        remedy="Keep the connection open until the answer comes.",
    ),
    ErrorKind(
        code="http_error",
        status=400,
        title="The request cannot be served",
        meaning="The request is not valid HTTP for this service in some other way.",
        remedy="See `detail`.",
    ),
    ErrorKind(
        code="internal_error",
        status=500,
        title="The service failed",
        meaning="A fault of CrossPipe, not of the request. The log of the service has all of it under `instance`.",
        remedy="Report it with the `instance` and, if you can, the request.",
    ),
)

CATALOGUE = {kind.code: kind for kind in KINDS}

INTERNAL = CATALOGUE["internal_error"]


def kind_of_status(status: int) -> ErrorKind:
    """Find the kind for a plain HTTP error of the framework."""
    found = {HTTPStatus.NOT_FOUND: "not_found", HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed"}.get(
        HTTPStatus(status), "internal_error" if status >= 500 else "http_error"
    )
    return CATALOGUE[found]
