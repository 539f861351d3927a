"""The text of a spec as a tree: UTF-8, JSON or YAML."""

from __future__ import annotations

from crosspipe.errors import Fault, SpecSyntaxError
from crosspipe.spec.json_text import read_json
from crosspipe.spec.yaml_text import RefusedYamlError, read_yaml

BYTE_ORDER_MARK = "\ufeff"


def read_text(source: str | bytes) -> object:
    """Read a document: JSON where it starts as JSON does and is, YAML otherwise.

    Raises
    ------
    SpecSyntaxError
        If the text is neither, is not UTF-8, or is empty.
    """
    text = _unicode(source).removeprefix(BYTE_ORDER_MARK)
    if not text.strip():
        raise SpecSyntaxError([Fault("", "must not be empty")])
    if not text.lstrip().startswith(("{", "[")):
        return read_yaml(text)
    try:
        return read_json(text)
    except SpecSyntaxError as not_json:
        try:
            return read_yaml(text)
        except RefusedYamlError:
            raise
        except SpecSyntaxError:
            raise not_json from None


def _unicode(source: str | bytes) -> str:
    try:
        if isinstance(source, bytes):
            return source.decode("utf-8")
        source.encode("utf-8")
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError | UnicodeEncodeError) else 0
        raise SpecSyntaxError([Fault("", f"must be UTF-8 text; position {start} is not")]) from error
    return source
