"""What holds for all tests: examples have no deadline, since no test asserts speed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
