"""Which media types of a body are read."""

from __future__ import annotations

from email.message import Message
from typing import TYPE_CHECKING

from crosspipe_service.errors.exceptions import UnsupportedMediaTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping

MEDIA_TYPES = ("application/json", "application/yaml", "text/yaml", "application/x-yaml")


def check_media_type(headers: Mapping[str, str]) -> None:
    """Refuse a body that is not announced as JSON or YAML in UTF-8, uncompressed.

    Raises
    ------
    UnsupportedMediaTypeError
        With the header Accept-Post naming what is read (W3C Linked Data Platform, section 7.1).
    """
    message = Message()
    message["Content-Type"] = headers.get("content-type", "")
    named = headers.get("content-type", "").split(";")[0].strip().lower()
    coding = headers.get("content-encoding", "identity").strip().lower()
    if not named:
        raise _refused("The header Content-Type is missing")
    if named not in MEDIA_TYPES:
        raise _refused(f"Content-Type {named} is not read")
    charset = message.get_param("charset", "utf-8")
    if not isinstance(charset, str) or charset.lower() not in ("utf-8", "utf8", "us-ascii"):
        raise _refused("Only UTF-8 is read as charset")
    if coding != "identity":
        raise _refused(f"Content-Encoding {coding} is not read")


def _refused(what: str) -> UnsupportedMediaTypeError:
    accepted = ", ".join(MEDIA_TYPES)
    return UnsupportedMediaTypeError(f"{what}; send one of {accepted}.", {"Accept-Post": accepted})
