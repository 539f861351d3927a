"""Exports the OpenAPI document.

`python -m crosspipe_service.openapi` prints it; `--write FILE` writes it, `--check FILE` compares.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crosspipe_service.app import create_app
from crosspipe_service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence


def exported() -> str:
    """Write the document of the service with default settings, always the same way."""
    return json.dumps(create_app(Settings()).openapi(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print, write or compare the document; 1 where it differs."""
    parser = argparse.ArgumentParser(prog="python -m crosspipe_service.openapi", description=__doc__)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--write", type=Path, metavar="FILE", help="write the document to FILE")
    action.add_argument("--check", type=Path, metavar="FILE", help="fail where FILE is not the document")
    options = parser.parse_args(arguments)
    text = exported()
    if options.write is not None:
        options.write.write_text(text, encoding="utf-8")
    elif options.check is None:
        sys.stdout.write(text)
    elif not options.check.exists() or options.check.read_text(encoding="utf-8") != text:
        sys.stderr.write(f"{options.check} is not what the service serves; run: make openapi\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
