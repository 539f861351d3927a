"""`POST /v1/check`: judge a schedule."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from crosspipe.answer.results import CheckResult
from crosspipe_service.bodies.description import described_body
from crosspipe_service.bodies.read import read_body
from crosspipe_service.checks.example import EXAMPLE
from crosspipe_service.checks.service import check_document
from crosspipe_service.errors.responses import problems
from crosspipe_service.state import state_of

router = APIRouter(prefix="/v1/check", tags=["checks"])

ERRORS = problems(
    "body_timeout",
    "body_too_large",
    "unsupported_media_type",
    "invalid_syntax",
    "invalid_spec",
    "too_large",
    "invalid_schedule",
    "busy",
    "shutting_down",
)


@router.post(
    "",
    summary="Check a schedule against a cluster spec",
    response_model=CheckResult,
    responses=ERRORS,
    openapi_extra=described_body("CheckRequest", "The spec and the schedule, in JSON or YAML", EXAMPLE),
)
async def check_schedule(request: Request) -> Response:
    """List every rule that a schedule breaks: with operations, place, time and amount.

    The checker shares no code with the solver. A schedule that breaks rules is a result, not an error: 200.
    """
    state = state_of(request)
    body = await read_body(request, state.settings.max_body_bytes, state.settings.body_timeout_s)
    result = await state.checks.run(lambda _: check_document(body), request.receive)
    return Response(result, media_type="application/json")
