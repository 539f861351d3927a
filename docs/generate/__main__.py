"""Writes the generated parts of the documents: `python -m docs.generate`; with `--check`, 1 where one is stale."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from docs.generate.pages import PAGES, PICTURES, rewritten

if TYPE_CHECKING:
    from pathlib import Path


def main() -> int:
    """Write or check every page and picture."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page is stale")
    options = parser.parse_args()
    wanted = {page: rewritten(page) for page in PAGES} | {path: draw() for path, draw in PICTURES.items()}
    stale = {path: text for path, text in wanted.items() if text != _text(path)}
    for path, text in stale.items():
        if options.check:
            sys.stderr.write(f"{path} is stale; run: python -m docs.generate\n")
        elif text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if options.check and stale else 0


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
