"""Pages are up to date where they are generated, whole where they are lists, and their links lead somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from docs.generate.answer_fields import answer_models, meaning_of
from docs.generate.answer_meanings import MEANINGS
from docs.generate.pages import PAGES, PICTURES, ROOT, all_pages, rewritten

from crosspipe.checker.report import ViolationKind
from crosspipe.families.registry import FAMILIES

if TYPE_CHECKING:
    from pathlib import Path

LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
NOTICE = re.compile(r"""Notice\(\s*["'](?P<code>[a-z_]+)["']""")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_generated_parts_are_up_to_date(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "<!-- generated: " in text
    assert text == rewritten(page), "run: python -m docs.generate"


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_generated_pictures_are_up_to_date(path: Path) -> None:
    drawn = path.read_text(encoding="utf-8") if path.exists() else None
    assert drawn == PICTURES[path](), "run: python -m docs.generate"


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for found in LINK.finditer(re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("http://", "https://")):
            continue
        linked = (page.parent / target).resolve() if target else page
        assert linked.exists(), f"{page.name}: {found['target']}"
        if anchor:
            assert anchor in anchors(linked), f"{page.name}: {found['target']}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as Markdown viewers make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_linked() -> None:
    linked = {
        (page.parent / found["target"].partition("#")[0]).resolve()
        for page in all_pages()
        for found in LINK.finditer(page.read_text(encoding="utf-8"))
        if not found["target"].startswith("http")
    }
    assert set(all_pages()) - linked == {ROOT / "README.md"}


def test_every_field_of_an_answer_has_a_meaning() -> None:
    missing = [
        f"{model.__name__}.{name}"
        for model in answer_models()
        for name in model.model_fields
        if not meaning_of(model, name)
    ]
    assert missing == []


def test_no_meaning_is_of_a_field_that_is_gone_or_told_by_its_model() -> None:
    fields = {model.__name__: model.model_fields for model in answer_models()}
    idle = [
        f"{model}.{name}"
        for model, meanings in MEANINGS.items()
        for name in meanings
        if model not in fields or name not in fields[model] or fields[model][name].description
    ]
    assert idle == []


def test_every_room_is_described() -> None:
    page = (ROOT / "docs/explanation/rooms.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in ROOT.glob("solver/crosspipe/*/__init__.py")]
    assert [room for room in rooms if f"| `{room}` |" not in page] == []


def test_every_family_is_described() -> None:
    page = (ROOT / "docs/reference/families.md").read_text(encoding="utf-8")
    assert [family.name for family in FAMILIES if f"### {family.name}\n" not in page] == []


def test_every_violation_is_described() -> None:
    page = (ROOT / "docs/reference/semantics.md").read_text(encoding="utf-8")
    assert [kind.value for kind in ViolationKind if f"`{kind.value}`" not in page] == []


def test_every_warning_is_described() -> None:
    page = (ROOT / "docs/reference/spec.md").read_text(encoding="utf-8")
    sources = [
        path.read_text(encoding="utf-8")
        for room in ("spec", "costs")
        for path in ROOT.glob(f"solver/crosspipe/{room}/**/*.py")
    ]
    codes = {found["code"] for source in sources for found in NOTICE.finditer(source)}
    assert len(codes) >= 10
    assert sorted(code for code in codes if f"`{code}`" not in page) == []
