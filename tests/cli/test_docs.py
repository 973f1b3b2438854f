import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize(
    "page", [pytest.param(one, id=str(one.relative_to(ROOT))) for one in PAGES]
)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    broken = [to for to in LINK.findall(page.read_text()) if not (page.parent / to).exists()]
    assert broken == []


def test_every_page_can_be_reached_from_the_index() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "docs" / "index.md"]
    while ahead:
        page = ahead.pop()
        if page not in seen and page.suffix == ".md" and page.is_file():
            seen.add(page)
            ahead += [(page.parent / to).resolve() for to in LINK.findall(page.read_text())]
    assert [str(one) for one in PAGES if one not in seen] == []
