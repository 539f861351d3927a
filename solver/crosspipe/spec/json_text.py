"""JSON text as a tree: numbers exactly, repeated keys kept for the fault that names them."""

from __future__ import annotations

import json
from decimal import Decimal

from crosspipe.errors import Fault, SpecSyntaxError
from crosspipe.spec.numbers import number_from_text
from crosspipe.spec.tree import DEEPEST, Pairs


def read_json(text: str) -> object:
    """Read one JSON value; `NaN` and `Infinity` come out as decimals that no field accepts.

    Raises
    ------
    SpecSyntaxError
        If the text is not JSON.
    """
    try:
        return json.loads(
            text,
            parse_float=number_from_text,
            parse_int=number_from_text,
            parse_constant=Decimal,
            object_pairs_hook=Pairs,
        )
    except json.JSONDecodeError as error:
        rule = f"must be JSON: {error.msg}, line {error.lineno} column {error.colno}"
        raise SpecSyntaxError([Fault("", rule)]) from error
    except RecursionError as error:
        raise SpecSyntaxError([Fault("", f"must be nested at most {DEEPEST} levels deep")]) from error
