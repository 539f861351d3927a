"""The application: features put together."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from crosspipe import __version__
from crosspipe.answer.solve import solve as crosspipe_solve
from crosspipe_service.checks import endpoints as checks
from crosspipe_service.description import describe
from crosspipe_service.docs import endpoints as docs
from crosspipe_service.errors import endpoints as errors
from crosspipe_service.errors.boundary import ProblemBoundary
from crosspipe_service.errors.handlers import install_handlers
from crosspipe_service.health import endpoints as health
from crosspipe_service.kernels import kernels_in_the_making
from crosspipe_service.schedules import endpoints as schedules
from crosspipe_service.schedules.schemas import SolveQuery
from crosspipe_service.schedules.service import Solver
from crosspipe_service.settings import Settings, settings_from
from crosspipe_service.state import ServiceState
from crosspipe_service.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crosspipe_service.schedules.service import Solve

COMPRESSED_FROM_BYTES = 1000
COMPRESSION_LEVEL = 5

DESCRIPTION = "Certified pipeline-parallel schedules for training across datacenters."


def create_app(settings: Settings | None = None, *, solve: Solve = crosspipe_solve) -> FastAPI:
    """Build the application.

    Parameters
    ----------
    settings
        None reads the environment.
    solve
        What answers a spec; another one stands in for it in tests.

    Raises
    ------
    OptionError
        If a variable of the environment is out of range.
    """
    settings = settings_from() if settings is None else settings
    app = FastAPI(
        title="CrossPipe",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=_lifespan,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
    )
    places, queue, wait_s = settings.max_concurrent_solves, settings.max_queued_solves, settings.max_queue_wait_s
    app.state.crosspipe = ServiceState(
        settings, Solver(settings, solve), Turns(places, queue, wait_s), Turns(places, queue, wait_s)
    )
    app.add_middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM_BYTES, compresslevel=COMPRESSION_LEVEL)
    app.add_middleware(ProblemBoundary)
    install_handlers(app, tuple(SolveQuery.model_fields))
    for feature in (schedules, checks, errors, health, docs):
        app.include_router(feature.router)
    app.mount("/docs/static", docs.static_files)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way to extend the document
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    with kernels_in_the_making():
        yield
    app.state.crosspipe.close()


def _described(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        app.openapi_schema = describe(app)
    return app.openapi_schema
