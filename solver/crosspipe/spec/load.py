"""Read a spec: YAML or JSON text, a mapping, or a file. All faults are found at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from crosspipe.errors import Fault, SpecError, SpecSyntaxError
from crosspipe.spec.check import validated
from crosspipe.spec.faults import fault, first_faults, shown
from crosspipe.spec.text import read_text
from crosspipe.spec.tree import Pairs, plain_tree

if TYPE_CHECKING:
    from pathlib import Path

    from crosspipe.spec.model import Spec

CONFIG_SUFFIX = ".json"
"""A `model:` that ends so names a Hugging Face config beside the spec."""

SPEC_SUFFIXES = (".yaml", ".yml", ".json")


def parse_spec(source: str | bytes | Mapping[str, object]) -> Spec:
    """Read a spec from YAML or JSON text, or from a mapping as a JSON reader returns it.

    Raises
    ------
    SpecSyntaxError
        If the text is no document at all, or uses a feature of YAML that is refused.
    SpecError
        If the document is no valid spec; `faults` lists everything found.
    """
    return _spec(source if isinstance(source, Mapping) else read_text(source))


def load_spec(path: Path) -> Spec:
    """Read a spec from a file; a `model:` that names a `config.json` beside it is read from there.

    Raises
    ------
    SpecError
        As `parse_spec`; also if a file cannot be read.
    """
    source = read_text(_bytes(path, ""))
    if isinstance(source, Pairs):
        source = Pairs((name, _inlined(value, path.parent) if name == "model" else value) for name, value in source)
    return _spec(source)


def _inlined(value: object, folder: Path) -> object:
    """Read the config that `model` names, anything else as it is."""
    if not isinstance(value, str) or not value.endswith(CONFIG_SUFFIX):
        return value
    content = _bytes(folder / value, "/model")
    try:
        return read_text(content)
    except SpecSyntaxError as error:
        raise SpecSyntaxError([replace(found, pointer="/model", value=value) for found in error.faults]) from error


def _bytes(path: Path, pointer: str) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SpecError([Fault(pointer, f"must be a file that can be read: {reason}", shown(str(path)))]) from error


def _spec(source: object) -> Spec:
    tree, faults = plain_tree(source)
    if not isinstance(tree, dict):
        rule = "must be a mapping with `model`, `training` and `sites`"
        if isinstance(tree, str) and tree.endswith(SPEC_SUFFIXES):
            rule += "; this is the name of a file, give its text"
        raise SpecError(first_faults(faults) or [fault((), rule, tree)])
    spec, more = validated(tree)
    if spec is None or faults or more:
        first = first_faults(faults)
        raise SpecError(first_faults([*first, *_beyond(first, more)]))
    return spec


def _beyond(first: list[Fault], more: tuple[Fault, ...]) -> list[Fault]:
    """Leave out faults that only follow from one at the same place or around it."""
    places = {found.pointer for found in first}
    return [found for found in more if places.isdisjoint(_around(found.pointer))]


def _around(pointer: str) -> list[str]:
    """List a pointer and those of all that holds it, the whole document left out."""
    parts = pointer.split("/")
    return ["/".join(parts[:length]) for length in range(2, len(parts) + 1)]
