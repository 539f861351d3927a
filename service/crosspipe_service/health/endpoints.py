"""`GET /healthz`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request

from crosspipe import __version__
from crosspipe_service.health.schemas import Health, Work
from crosspipe_service.state import state_of

if TYPE_CHECKING:
    from crosspipe_service.turns import Turns

router = APIRouter(tags=["health"])


@router.get("/healthz", summary="Tell whether the service is well")
async def health(request: Request) -> Health:
    """Answer at once, whatever is being solved."""
    state = state_of(request)
    return Health(status="ok", version=__version__, solves=_work(state.solves), checks=_work(state.checks))


def _work(turns: Turns) -> Work:
    return Work(running=turns.running, waiting=turns.waiting, places=turns.places)
