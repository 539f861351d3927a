"""CrossPipe: certified pipeline-parallel schedules for training across datacenters."""

from importlib import import_module
from typing import TYPE_CHECKING

from crosspipe.version import __version__

if TYPE_CHECKING:
    from crosspipe.accounts.models import Account
    from crosspipe.accounts.run import explain
    from crosspipe.answer.bound import bound
    from crosspipe.answer.estimate import Estimate, estimate
    from crosspipe.answer.models import Answer
    from crosspipe.answer.results import BoundResult, CheckResult, VerifyResult
    from crosspipe.answer.solve import check, solve
    from crosspipe.answer.verify import verify
    from crosspipe.errors import CrossPipeError, SpecError
    from crosspipe.plans.models import Plan
    from crosspipe.plans.run import plan
    from crosspipe.search.progress import Progress
    from crosspipe.spec.model import Spec
    from crosspipe.sweeps.models import Sweep
    from crosspipe.sweeps.run import sweep

_HOMES = {
    "Account": "crosspipe.accounts.models",
    "Answer": "crosspipe.answer.models",
    "BoundResult": "crosspipe.answer.results",
    "CheckResult": "crosspipe.answer.results",
    "CrossPipeError": "crosspipe.errors",
    "Estimate": "crosspipe.answer.estimate",
    "Plan": "crosspipe.plans.models",
    "Progress": "crosspipe.search.progress",
    "Spec": "crosspipe.spec.model",
    "SpecError": "crosspipe.errors",
    "Sweep": "crosspipe.sweeps.models",
    "VerifyResult": "crosspipe.answer.results",
    "bound": "crosspipe.answer.bound",
    "check": "crosspipe.answer.solve",
    "estimate": "crosspipe.answer.estimate",
    "explain": "crosspipe.accounts.run",
    "plan": "crosspipe.plans.run",
    "solve": "crosspipe.answer.solve",
    "sweep": "crosspipe.sweeps.run",
    "verify": "crosspipe.answer.verify",
}

__all__ = [
    "Account",
    "Answer",
    "BoundResult",
    "CheckResult",
    "CrossPipeError",
    "Estimate",
    "Plan",
    "Progress",
    "Spec",
    "SpecError",
    "Sweep",
    "VerifyResult",
    "__version__",
    "bound",
    "check",
    "estimate",
    "explain",
    "plan",
    "solve",
    "sweep",
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
