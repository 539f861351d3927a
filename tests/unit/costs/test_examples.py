from __future__ import annotations

from pathlib import Path

import yaml
from tests.unit.costs.specs import named

from crosspipe.costs import expand
from crosspipe.spec.model import Spec

EXAMPLE = Path(__file__).parents[3] / "examples" / "llama-3-70b-two-sites.yaml"


def test_the_example_by_name_is_the_spec_tested_here() -> None:
    spec = Spec.model_validate(yaml.safe_load(EXAMPLE.read_text("utf-8")))
    assert spec == named(parallel={"tensor": 8, "pipeline": 8, "data": 16})
    assert expand(spec).notices == ()
