"""Reads a request body within its limits, before anything parses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from starlette.requests import ClientDisconnect

from crosspipe_service.bodies.media import check_media_type
from crosspipe_service.errors.exceptions import BodyTimeoutError, BodyTooLargeError, ClientLeftError

if TYPE_CHECKING:
    from starlette.requests import Request


async def read_body(request: Request, most_bytes: int, timeout_s: float) -> bytes:
    """Read the whole body.

    Parameters
    ----------
    most_bytes
        Largest body. A larger announced one is refused unread; one in chunks, as soon as it passes the limit.
    timeout_s
        Longest wait for the whole of it.

    Raises
    ------
    UnsupportedMediaTypeError, BodyTooLargeError, BodyTimeoutError, ClientLeftError
    """
    check_media_type(request.headers)
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > most_bytes:
        raise _too_large(most_bytes)
    body = bytearray()
    try:
        with anyio.fail_after(timeout_s):
            async for chunk in request.stream():
                if len(body) + len(chunk) > most_bytes:
                    raise _too_large(most_bytes)
                body += chunk
    except ClientDisconnect as error:
        raise ClientLeftError from error
    except TimeoutError as error:
        raise BodyTimeoutError(f"The whole body did not arrive within {timeout_s:g} s.") from error
    return bytes(body)


def _too_large(most_bytes: int) -> BodyTooLargeError:
    return BodyTooLargeError(f"The body is larger than the {most_bytes} bytes this service reads.")
