"""Settings drawn at random, and varied from good ones."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from crosspipe.families.settings import Keep, Prefer, Rule, Settings

if TYPE_CHECKING:
    from random import Random

_REAL = ("patience", "gap", "pace", "slope")


def draw(rng: Random) -> Settings:
    """Draw settings from the ranges in which some instance's best was found."""
    return Settings(
        rule=rng.choice(list(Rule)),
        patience=rng.choice([0.0, 0.25, 0.5, 0.75, 1.0, 1.5]),
        gap=rng.choice([0.0, 0.3, 0.6, 1.0]),
        owed=rng.choice([None, None, 0, 1, 2, 4, 6, 8]),
        owed_by_rank=rng.choice([0.0, 0.0, 0.0, 0.5, 1.0, 2.0]),
        keep=rng.choice(list(Keep)),
        prefer=rng.choice(list(Prefer)),
        pace=rng.choice([0.0, 0.0, 0.0, 0.5, 0.8, 0.95, 1.0]),
        depth=rng.choice([None, None, None, 0.8, 1.0, 1.15, 1.3, 1.6, 2.0]),
        level=rng.random() < 0.3,
        slope=rng.choice([0.25, 0.5, 0.8, 1.0, 1.0, 1.2, 1.5]),
    )


def vary(settings: Settings, rng: Random) -> Settings:
    """Redraw one to three knobs, and shift the real-valued ones a little now and then."""
    other = draw(rng)
    names = rng.sample([knob.name for knob in fields(Settings)], rng.choice([1, 1, 2, 3]))
    changes = {name: getattr(other, name) for name in names}
    for name in _REAL:
        if rng.random() < 0.3:
            changes[name] = max(0.0, getattr(settings, name) * rng.uniform(0.7, 1.4) + rng.choice([0.0, 0.0, 0.1]))
    return replace(settings, **changes)
