"""Errors that only a service has; those of the input come from `crosspipe.errors`."""

from __future__ import annotations

from typing import ClassVar

from crosspipe.errors import CrossPipeError


class ServiceError(CrossPipeError):
    """A request that cannot be served; `headers` go with the response."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str, headers: dict[str, str] | None = None) -> None:
        self.headers = headers or {}
        super().__init__(message)


class BodyTooLargeError(ServiceError):
    """The request body is larger than this service accepts."""

    code: ClassVar[str] = "body_too_large"


class BodyTimeoutError(ServiceError):
    """The request body did not arrive in time."""

    code: ClassVar[str] = "body_timeout"


class UnsupportedMediaTypeError(ServiceError):
    """The request body has a media type, charset or content coding that is not read."""

    code: ClassVar[str] = "unsupported_media_type"


class BusyError(ServiceError):
    """All places are taken and the queue is full, or the wait for a turn was too long."""

    code: ClassVar[str] = "busy"


class ShuttingDownError(ServiceError):
    """The service is about to end and starts no new work."""

    code: ClassVar[str] = "shutting_down"


class ClientLeftError(ServiceError):
    """The client closed the connection; nobody reads the response."""

    code: ClassVar[str] = "client_left"

    def __init__(self) -> None:
        super().__init__("The client closed the connection.")


class UnknownErrorCodeError(ServiceError):
    """There is no error with the code asked about."""

    code: ClassVar[str] = "not_found"
