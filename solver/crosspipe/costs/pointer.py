"""JSON Pointers (RFC 6901)."""

from __future__ import annotations


def field(parent: str, name: str) -> str:
    """Point to a field of an object, its name escaped."""
    return f"{parent}/{name.replace('~', '~0').replace('/', '~1')}"
