"""A fixed portfolio of settings: points that win somewhere, the strongest first."""

from __future__ import annotations

from crosspipe.families.settings import Settings

PORTFOLIO: tuple[Settings, ...] = (Settings(),)
