"""The fields of an answer, of a check, of a sweep, of a plan, of an account and of an estimate, from their models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from docs.generate.answer_meanings import MEANINGS
from docs.generate.kinds import kind_of
from docs.generate.markdown import code, sentence, table
from pydantic import BaseModel

from crosspipe.accounts.models import Account
from crosspipe.answer.estimate import Estimate
from crosspipe.answer.models import Answer
from crosspipe.answer.results import CheckResult
from crosspipe.plans.models import Plan
from crosspipe.sweeps.models import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterator


def fields_of_an_answer() -> str:
    """Write one section per model of an answer, in the order in which a reader meets them."""
    return _sections(Answer)


def fields_of_a_check() -> str:
    """Write one section per model of what the checker says."""
    return _sections(CheckResult)


def fields_of_a_sweep() -> str:
    """Write one section per model of a sweep that is none of an answer."""
    return _sections_beyond_an_answer(Sweep)


def fields_of_a_plan() -> str:
    """Write one section per model of a plan that is none of an answer."""
    return _sections_beyond_an_answer(Plan)


def fields_of_an_account() -> str:
    """Write one section per model of an account that is none of an answer."""
    return _sections_beyond_an_answer(Account)


def fields_of_an_estimate() -> str:
    """Write one section per model of an estimate."""
    return _sections(Estimate)


def answer_models() -> list[type[BaseModel]]:
    """List every model of an answer, of a check, of a sweep, of a plan, of an account and of an estimate."""
    roots = (Answer, CheckResult, Sweep, Plan, Account, Estimate)
    return [*dict.fromkeys(model for root in roots for model in _reached(root))]


def meaning_of(model: type[BaseModel], name: str) -> str:
    """Tell what a field means: in the model's own words, else in those of this room; empty for neither."""
    return model.model_fields[name].description or MEANINGS.get(model.__name__, {}).get(name, "")


def _sections(root: type[BaseModel]) -> str:
    return "\n\n".join(_section(model) for model in dict.fromkeys(_reached(root)))


def _sections_beyond_an_answer(root: type[BaseModel]) -> str:
    known = set(_reached(Answer))
    return "\n\n".join(_section(model) for model in dict.fromkeys(_reached(root)) if model not in known)


def _reached(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            yield from _reached(inner)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _section(model: type[BaseModel]) -> str:
    rows = [(code(name), _holds(field), meaning_of(model, name)) for name, field in model.model_fields.items()]
    return "\n\n".join([f"### {model.__name__}", sentence(model.__doc__), table(("field", "holds", "meaning"), rows)])


def _holds(field: Any) -> str:
    text = kind_of(field.annotation, tuple(field.metadata)).text
    return f"{text} or null" if type(None) in get_args(field.annotation) else text
