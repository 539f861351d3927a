"""`GET /docs`: the API in a browser, without any other host."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, RedirectResponse
from starlette.staticfiles import StaticFiles

STATIC = Path(__file__).parent / "static"

SAME_ORIGIN = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Content Security Policy of the page: the browser itself refuses every other host."""

router = APIRouter(include_in_schema=False)

static_files = StaticFiles(directory=STATIC)


@router.get("/docs")
async def show_docs() -> FileResponse:
    """Show the API."""
    return FileResponse(STATIC / "index.html", headers={"Content-Security-Policy": SAME_ORIGIN})


@router.get("/")
async def start() -> RedirectResponse:
    """Lead a person who opens the bare address to the docs."""
    return RedirectResponse("docs")
