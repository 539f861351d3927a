"""Errors as problem documents (RFC 9457): one stable code each, documented at `/v1/errors/{code}`."""
