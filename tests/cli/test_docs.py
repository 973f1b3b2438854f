import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
AROUND = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "e2e").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)")
TO_A_HEADING = re.compile(r"\[[^\]]*\]\(([^)#:]*)#([^)]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the names by which the headings of a page are linked."""
    plain = (re.sub(r"[^\w\- ]", "", one.lower()) for one in HEADING.findall(page.read_text()))
    return {one.strip().replace(" ", "-") for one in plain}


@pytest.mark.parametrize(
    "page", [pytest.param(one, id=str(one.relative_to(ROOT))) for one in [*AROUND, *PAGES]]
)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = page.read_text()
    broken = [to for to in LINK.findall(text) if not (page.parent / to).exists()]
    assert broken == []
    missed = [
        f"{to}#{heading}"
        for to, heading in TO_A_HEADING.findall(text)
        if heading not in anchors(page.parent / to if to else page)
    ]
    assert missed == []


def test_every_page_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "docs" / "index.md"]
    while ahead:
        page = ahead.pop()
        if page not in seen and page.suffix == ".md" and page.is_file():
            seen.add(page)
            ahead += [(page.parent / to).resolve() for to in LINK.findall(page.read_text())]
    assert [str(one) for one in PAGES if one not in seen] == []
