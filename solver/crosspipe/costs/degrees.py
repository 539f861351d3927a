"""Tensor, pipeline and data degrees: what is left `auto` is filled in, contradictions are refused.

The rules of `auto`, in order: `tensor` is 8, or the largest smaller power of two that divides the GPUs of every pool
and the attention heads; `pipeline` is the smallest number of devices per replica (the same share of every site, so at
least one device of each) for which weights and the activations that 1F1B holds fit every device; `data` is the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, isqrt
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AUTO_TENSOR = (8, 4, 2, 1)
"""Tensor degrees tried, best first: a node has 8 GPUs as a rule, and the group should not leave it."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """Tensor, pipeline and data degrees of a run.

    `sites` is the number of sites over which whole pipelines are spread; 1 where a pipeline runs through all of them.
    `context` is the number of parts of a sequence, and `expert` that of the GPUs of a stage in one site that share its
    routed experts, None for those of one device.
    """

    tensor: int
    pipeline: int
    data: int
    sites: int = 1
    context: int = 1
    expert: int | None = None

    @property
    def gpus(self) -> int:
        """GPUs that act as one device."""
        return self.tensor * self.context

    @property
    def device(self) -> str:
        """The same in words."""
        return f"tensor {self.tensor}" + (f" x context {self.context}" if self.context > 1 else "")

    @property
    def copies(self) -> int:
        """Replicas that have a device in any one site."""
        return self.data // self.sites


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the degrees; None = auto.

    Attributes
    ----------
    gpus
        JSON Pointer and GPUs of every pool given in GPUs.
    devices
        Devices per replica of the pools given in devices, together (those that one pipeline runs through).
    heads
        Attention heads, which the tensor degree divides; None where the model's numbers are measured.
    sequences
        `global_batch`, None where the microbatches are counted directly.
    microbatch
        Sequences per microbatch.
    pipelines_allowed
        Says whether the model can be cut for that many devices.
    pipeline_rule
        The same in words.
    sites
        Sites over which whole pipelines are spread, each with as many GPUs; 1 where a pipeline runs through all.
    context, expert
        As in `Degrees`.
    """

    tensor: int | None
    pipeline: int | None
    data: int | None
    gpus: tuple[tuple[str, int], ...]
    devices: int
    heads: int | None
    sequences: int | None
    microbatch: int
    pipelines_allowed: Callable[[int], bool]
    pipeline_rule: str
    sites: int = 1
    context: int = 1
    expert: int | None = None


def choose_degrees(request: Request, fit: Callable[[Degrees], float]) -> tuple[Degrees, float]:
    """Choose the degrees; `fit` is the fullest device's need of memory over what it has (<= 1: it fits).

    Returns
    -------
    tuple
        The degrees and their fit. Where nothing fits, the least overfull choice.

    Raises
    ------
    SpecError
        If the given degrees contradict each other, the devices or the batch; the fault names the nearest legal value.
    """
    faults = _uneven_pools(request)
    if faults:
        raise SpecError(faults)
    best: tuple[Degrees, float] | None = None
    for degrees in _legal(request):
        if best is not None and degrees.tensor != best[0].tensor:
            break
        need = fit(degrees)
        if best is None or need < best[1]:
            best = (degrees, need)
        if need <= 1:
            break
    if best is None:
        raise SpecError([_contradiction(request)])
    return best


def _legal(request: Request) -> Iterator[Degrees]:
    """Yield the legal degrees: larger tensor first, then larger data (shorter pipeline) first."""
    for degrees in _whole(request):
        batch = request.microbatch * degrees.data
        if (
            (request.pipeline is None or degrees.pipeline == request.pipeline)
            and request.pipelines_allowed(degrees.pipeline)
            and (request.heads is None or request.heads % degrees.tensor == 0)
            and (request.sequences is None or request.sequences % batch == 0)
            and (request.expert is None or degrees.gpus * degrees.copies % request.expert == 0)
        ):
            yield degrees


def _whole(request: Request) -> Iterator[Degrees]:
    """Yield the degrees that give whole devices per replica in every pool."""
    total = sum(gpus for _, gpus in request.gpus) // request.sites
    common = gcd(*(gpus for _, gpus in request.gpus))
    for tensor in _tensors(request, total):
        device = tensor * request.context
        if common % device:
            continue
        share = common // device
        for copies in _divisors(share) if request.data is None else (request.data // request.sites,):
            if share % copies == 0:
                pipeline = total // (device * copies) + request.devices
                data = copies * request.sites
                yield Degrees(tensor, pipeline, data, request.sites, request.context, request.expert)


def _divisors(number: int) -> tuple[int, ...]:
    """List the divisors of a number, largest first; 1 for no GPUs at all."""
    small = [k for k in range(1, isqrt(number) + 1) if number % k == 0] or [1]
    return tuple(sorted({*small, *(number // k for k in small)} - {0}, reverse=True))


def _tensors(request: Request, total: int) -> tuple[int, ...]:
    if request.tensor is not None:
        return (request.tensor,)
    if not request.gpus:
        return (1,)
    if request.pipeline is not None and request.data is not None and request.pipeline > request.devices:
        copies = request.data // request.sites * request.context
        exact, rest = divmod(total, (request.pipeline - request.devices) * copies)
        return (exact,) if rest == 0 and exact else AUTO_TENSOR
    return AUTO_TENSOR


def _uneven_pools(request: Request) -> list[Fault]:
    if request.tensor is None and request.data is None and request.context == 1:
        return []
    unit = (request.tensor or 1) * request.context * ((request.data or request.sites) // request.sites)
    context = None if request.context == 1 else request.context
    degrees = (("tensor", request.tensor), ("context", context), ("data", request.data))
    given = " x ".join(name for name, value in degrees if value)
    if request.sites > 1 and request.data is not None:
        given += f" / {request.sites} sites"
    rule = f"the GPUs of a pool are a multiple of {given} = {unit}, so that every replica gets whole devices there"
    return [
        Fault(pointer, rule, str(gpus), str(max(1, round(gpus / unit)) * unit))
        for pointer, gpus in request.gpus
        if gpus % unit
    ]


def _contradiction(request: Request) -> Fault:
    """Find the one field whose change makes the request legal, and its nearest legal value."""
    if request.pipeline is not None and not request.pipelines_allowed(request.pipeline):
        legal = {degrees.pipeline for degrees in _legal(replace(request, tensor=None, pipeline=None, data=None))}
        nearest = str(_nearest(legal, request.pipeline)) if legal else None
        return Fault("/parallel/pipeline", request.pipeline_rule, str(request.pipeline), nearest)
    if request.expert is not None:
        shared = {degrees.gpus * degrees.copies for degrees in _legal(replace(request, expert=None))}
        divisors = {divisor for gpus in shared for divisor in _divisors(gpus)}
        if divisors:
            rule = "expert divides the GPUs of a stage in one site, tensor x context x data there"
            nearest = str(_nearest(divisors, request.expert))
            return Fault("/parallel/expert", rule, str(request.expert), nearest)
    trials: tuple[tuple[str, int | None, Request], ...] = (
        ("pipeline", request.pipeline, replace(request, pipeline=None)),
        ("data", request.data, replace(request, data=None)),
        ("tensor", request.tensor, replace(request, tensor=None)),
    )
    for name, given, relaxed in trials:
        legal = {getattr(degrees, name) for degrees in _legal(relaxed)}
        if given is not None and legal:
            return Fault(f"/parallel/{name}", _rule(request, name), str(given), str(_nearest(legal, given)))
    if request.tensor is not None and request.heads is not None and request.heads % request.tensor:
        nearest = str(_nearest(set(_divisors(request.heads)), request.tensor))
        return Fault("/parallel/tensor", _rule(request, "tensor"), str(request.tensor), nearest)
    units = {request.microbatch * degrees.data for degrees in _legal(replace(request, sequences=None))}
    if request.sequences is not None and units:
        multiples = {max(1, round(request.sequences / unit)) * unit for unit in units}
        rule = "global_batch is a multiple of microbatch x data"
        nearest = str(_nearest(multiples, request.sequences))
        return Fault("/training/global_batch", rule, str(request.sequences), nearest)
    rule = f"the devices of one replica make a pipeline that the model can be cut for: {request.pipeline_rule}"
    found = sorted({degrees.pipeline for degrees in _whole(request)})
    value = f"pipelines of {', '.join(map(str, found))}" if found else "no whole number of devices"
    return Fault("/sites", rule, value)


def _nearest(legal: set[int], given: int) -> int:
    return min(legal, key=lambda value: (abs(value - given), value))


def _rule(request: Request, name: str) -> str:
    device = "tensor" if request.context == 1 else f"tensor x context {request.context}"
    if name == "tensor":
        rule = f"{device} divides the GPUs of every pool"
        return rule if request.heads is None else f"{rule} and the {request.heads} attention heads"
    if name == "data":
        rule = f"{device} x data divides the GPUs of every pool"
        if request.sites > 1:
            rule = f"{device} x data / {request.sites} sites divides the GPUs of every pool"
        return rule if request.sequences is None else f"{rule}, and microbatch x data divides global_batch"
    rule = f"pipeline is the number of devices per replica over all sites, GPUs / ({device} x data)"
    if request.sites > 1:
        spread = f"({device} x data / {request.sites} sites)"
        rule = f"pipeline is the number of devices per replica in its site, GPUs / {spread}"
    return f"{rule}, and {request.pipeline_rule}" if request.pipeline_rule else rule
