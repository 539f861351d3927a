"""`POST /v1/schedules`: solve a spec and wait for the answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crosspipe.answer.models import Answer
from crosspipe_service.bodies.description import described_body
from crosspipe_service.bodies.read import read_body
from crosspipe_service.errors.responses import problems
from crosspipe_service.schedules.example import EXAMPLE
from crosspipe_service.schedules.schemas import SolveQuery
from crosspipe_service.state import state_of

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])

ERRORS = problems(
    "body_timeout",
    "body_too_large",
    "unsupported_media_type",
    "invalid_syntax",
    "invalid_spec",
    "too_large",
    "invalid_option",
    "busy",
    "shutting_down",
)


@router.post(
    "",
    summary="Solve a cluster spec",
    response_model=Answer,
    responses=ERRORS,
    openapi_extra=described_body("Spec", "The cluster spec: the whole body, in YAML or JSON", EXAMPLE),
)
async def solve_spec(request: Request, query: Annotated[SolveQuery, Query()]) -> Response:
    """Find the best schedule within the time limit, with a proven lower bound.

    The status of the answer is `optimal`, `feasible`, `infeasible` (with an explanation) or `unknown`; all are 200. If
    the client leaves, the solve stops.
    """
    state = state_of(request)
    state.solver.time_limit_s(query)
    body = await read_body(request, state.settings.max_body_bytes, state.settings.body_timeout_s)
    answer = await state.solves.run(
        lambda should_stop: state.solver.answer(body, query, state.solves.running, should_stop), request.receive
    )
    return Response(answer, media_type="application/json")
