"""The last line of defence: what no handler answered becomes a problem document, and the connection lives on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request

from crosspipe_service.errors.handlers import answer_unknown

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ProblemBoundary:
    """Middleware that answers an exception, unless the response has begun."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except Exception as error:
            if begun:
                raise
            response = await answer_unknown(Request(scope), error)
            await response(scope, receive, send)
