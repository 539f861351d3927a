"""Writes the generated parts of the documents: `python -m docs.generate`; with `--check`, 1 where one is stale."""

from __future__ import annotations

import argparse
import sys

from docs.generate.pages import PAGES, rewritten


def main() -> int:
    """Write or check every page."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page is stale")
    options = parser.parse_args()
    stale = [page for page in PAGES if page.read_text(encoding="utf-8") != rewritten(page)]
    for page in stale:
        if options.check:
            sys.stderr.write(f"{page} is stale; run: python -m docs.generate\n")
        else:
            page.write_text(rewritten(page), encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
