"""CrossPipe: certified pipeline-parallel schedules for training across datacenters."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crosspipe.answer.models import Answer, CheckResult
    from crosspipe.answer.solve import check, solve
    from crosspipe.errors import CrossPipeError, SpecError
    from crosspipe.search.progress import Progress
    from crosspipe.spec.model import Spec

_HOMES = {
    "Answer": "crosspipe.answer.models",
    "CheckResult": "crosspipe.answer.models",
    "CrossPipeError": "crosspipe.errors",
    "Progress": "crosspipe.search.progress",
    "Spec": "crosspipe.spec.model",
    "SpecError": "crosspipe.errors",
    "check": "crosspipe.answer.solve",
    "solve": "crosspipe.answer.solve",
}

__all__ = ["Answer", "CheckResult", "CrossPipeError", "Progress", "Spec", "SpecError", "__version__", "check", "solve"]


def __getattr__(name: str) -> object:
    """Import a public name at its first use: the solving process and `--version` need little of the package."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
