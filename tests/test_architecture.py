"""What the pages for readers of the code say of the tree is true of the tree."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")
LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)")
PATH = re.compile(
    r"`((?:api|queueing|tests|docs|e2e|bench|config|charts)/[\w./-]*|(?:core|state|controller|translate)/[\w/]+)`"
)
ROW = re.compile(r"^\| \*\*(.+?)\*\*.*?(?:\[\w+\]\(([^)]+)\)|$)", re.MULTILINE)


def test_every_path_and_link_that_a_page_names_is_there() -> None:
    missing = []
    for page in PAGES:
        text = (ROOT / page).read_text()
        named = [*LINK.findall(text), *PATH.findall(text)]
        missing += [
            (page, one)
            for one in named
            if not (ROOT / one).exists() and not (ROOT / "queueing" / one).exists()
        ]
    assert missing == []


def test_every_function_in_the_pictures_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    sources = "\n".join(one.read_text() for one in (ROOT / "queueing").rglob("*.py"))
    named = re.findall(r"\b(?:[A-Z]\w+|ladder|workloads)\.([a-z]\w+)\b", text.split("```")[3])
    assert len(named) > 8
    assert [one for one in named if f"def {one}(" not in sources] == []


def test_every_coined_word_stands_in_the_module_that_its_row_links_to() -> None:
    page = ROOT / "docs" / "concepts" / "words.md"
    rows = [(words, to) for words, to in ROW.findall(page.read_text()) if to.endswith(".py")]
    assert len(rows) > 30
    strange = [
        (words, to)
        for words, to in rows
        if not any(
            word.strip("* ").removesuffix("s").lower()
            in to + (page.parent / to).read_text().lower()
            for word in words.split(",")
        )
    ]
    assert strange == []
