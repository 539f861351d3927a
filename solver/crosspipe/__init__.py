"""CrossPipe: certified pipeline-parallel schedules for training across datacenters."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crosspipe.answer.bound import bound
    from crosspipe.answer.models import Answer, BoundResult, CheckResult, VerifyResult
    from crosspipe.answer.solve import check, solve
    from crosspipe.answer.verify import verify
    from crosspipe.errors import CrossPipeError, SpecError
    from crosspipe.search.progress import Progress
    from crosspipe.spec.model import Spec

_HOMES = {
    "Answer": "crosspipe.answer.models",
    "BoundResult": "crosspipe.answer.models",
    "CheckResult": "crosspipe.answer.models",
    "CrossPipeError": "crosspipe.errors",
    "Progress": "crosspipe.search.progress",
    "Spec": "crosspipe.spec.model",
    "SpecError": "crosspipe.errors",
    "VerifyResult": "crosspipe.answer.models",
    "bound": "crosspipe.answer.bound",
    "check": "crosspipe.answer.solve",
    "solve": "crosspipe.answer.solve",
    "verify": "crosspipe.answer.verify",
}

__all__ = [
    "Answer",
    "BoundResult",
    "CheckResult",
    "CrossPipeError",
    "Progress",
    "Spec",
    "SpecError",
    "VerifyResult",
    "__version__",
    "bound",
    "check",
    "solve",
    "verify",
]


def __getattr__(name: str) -> object:
    """Import a public name at its first use: the solving process and `--version` need little of the package."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names, those not imported yet as well."""
    return sorted({*globals(), *__all__})
