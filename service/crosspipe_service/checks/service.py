"""Checks the schedule of a request against its spec."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from crosspipe.answer.solve import check
from crosspipe.errors import Fault, InputError, ScheduleFormatError, SpecError
from crosspipe.spec.faults import closest, shown
from crosspipe.spec.load import parse_spec
from crosspipe.spec.text import read_text
from crosspipe.spec.tree import plain_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PARTS = ("spec", "schedule")


def check_document(body: bytes) -> bytes:
    """Judge the schedule of `{"spec": ..., "schedule": ...}`, in JSON or YAML.

    Returns
    -------
    bytes
        The result as JSON.

    Raises
    ------
    SpecSyntaxError, SpecError, ScheduleFormatError
        With pointers from the top of the body.
    """
    spec_tree, schedule = _parts(body)
    with _pointers_from_the_top():
        return check(parse_spec(spec_tree), schedule).model_dump_json().encode()


def _parts(body: bytes) -> tuple[Mapping[str, object], object]:
    tree, faults = plain_tree(read_text(body))
    if faults:
        in_spec = any(fault.pointer.startswith("/spec") for fault in faults)
        raise (SpecError if in_spec else ScheduleFormatError)(faults)
    if not isinstance(tree, dict):
        raise ScheduleFormatError([Fault("", "must be a mapping with `spec` and `schedule`", shown(tree))])
    unknown = [Fault(f"/{n}", "must be `spec` or `schedule`", n, closest(n, PARTS)) for n in tree if n not in PARTS]
    missing = [Fault(f"/{name}", "must be given") for name in PARTS if name not in tree]
    if unknown or missing:
        raise ScheduleFormatError([*unknown, *missing])
    spec = tree["spec"]
    if not isinstance(spec, dict):
        raise ScheduleFormatError([Fault("/spec", "must be a mapping: the cluster spec", shown(spec))])
    return spec, _json_numbers(tree["schedule"])


def _json_numbers(value: object) -> object:
    """Turn the exact decimals of a spec reader into the numbers of a JSON reader, as schedules hold them."""
    if isinstance(value, dict):
        return {key: _json_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_numbers(item) for item in value]
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    return value


@contextmanager
def _pointers_from_the_top() -> Iterator[None]:
    """Let the faults of a part of the body point from its top."""
    try:
        yield
    except InputError as error:
        part = "/schedule" if isinstance(error, ScheduleFormatError) else "/spec"
        raise type(error)([replace(fault, pointer=part + fault.pointer) for fault in error.faults]) from error
