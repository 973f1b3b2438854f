"""What the pages for readers of the code say of the tree is true of the tree."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONTROLLER = ROOT / "queueing" / "controller"
CAPABILITIES = ("checkpoints", "devices")
LAYER = {"rules": "rules", "wire": "translate", "memory": "controller", "shell": "controller"}
"""Of each part of a capability: where it stands in the picture of the packages."""
MAPPED = [
    "recording",
    "state",
    "controller",
    "cli",
    "serving",
    "explain",
    "lifecycle",
    "reports",
    "kinds",
    "kinds/builtin",
    *(
        f"cli/{one}"
        for one in ("get", "kind", "local", "production", "simulate", "submit", "usage")
    ),
    *(f"controller/{one.parent.name}" for one in CONTROLLER.glob("*/__init__.py")),
    *CAPABILITIES,
    *(
        f"{one.parents[1].name}/{one.parent.name}"
        for capability in CAPABILITIES
        for one in (ROOT / "queueing" / capability).glob("*/__init__.py")
    ),
    "core/placement",
    *(f"state/{one}" for one in ("answers", "intake", "memory", "queues", "scheduler", "usage")),
]
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")
LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)")
TARGET = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PATH = re.compile(
    r"`((?:api|queueing|tests|docs|e2e|bench|config|charts)/[\w./-]*|(?:core|state|controller|translate)/[\w/]+)`"
)
IMPORT = re.compile(r"^(?:from|import) queueing(?:(_api)|\.(\w+)(?:\.(\w+))?)", re.MULTILINE)
INSIDE = re.compile(
    r"^from queueing\.(?:controller\.(\w+)|(\w+)\.(?:shell|(memory))\b)", re.MULTILINE
)
ARROW = re.compile(r"(\w+) --> (\w+)")
ROW = re.compile(r"^\| \*\*(.+?)\*\*.*?(?:\[\w+\]\(([^)]+)\)|$)", re.MULTILINE)


def test_every_path_and_link_that_a_page_names_is_there() -> None:
    missing = []
    walks = [f"docs/contribute/{one.name}" for one in (ROOT / "docs/contribute").glob("*.md")]
    for page in [*PAGES, *walks]:
        text = (ROOT / page).read_text()
        named = [*(LINK.findall(text) if page in PAGES else ()), *PATH.findall(text)]
        missing += [
            (page, one)
            for one in named
            if not (ROOT / one).exists() and not (ROOT / "queueing" / one).exists()
        ]
    assert missing == []


def anchor(heading: str) -> str:
    """Return what a link to a heading ends with."""
    shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")


def test_every_link_of_a_page_leads_to_a_file_and_a_heading_that_are_there() -> None:
    pages = [*(ROOT / page for page in PAGES), ROOT / "CHANGELOG.md"]
    dead = []
    for page in [*pages, *(ROOT / "docs").rglob("*.md")]:
        for to, heading in TARGET.findall(page.read_text()):
            file = page.parent / to if to else page
            if not file.exists():
                dead.append((page.name, to))
            elif heading and heading not in map(anchor, HEADING.findall(file.read_text())):
                dead.append((page.name, f"{to}#{heading}"))
    assert dead == []


def test_every_function_in_the_pictures_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    sources = "\n".join(one.read_text() for one in (ROOT / "queueing").rglob("*.py"))
    picture = text.split("```mermaid")[2].split("```")[0]
    named = re.findall(r"\b(?:[A-Z]\w+|ladder|workloads)\.([a-z]\w+)\b", picture)
    assert len(named) > 8
    assert [one for one in named if f"def {one}(" not in sources] == []


def layer(package: str, part: str) -> str:
    """Return a package's name in the picture; of a capability, each part belongs to a layer."""
    return LAYER.get(part, package) if package in CAPABILITIES else package


def imports() -> set[tuple[str, str]]:
    """Return which package imports which."""
    found = set()
    for file in (ROOT / "queueing").rglob("*.py"):
        name, *inner = (
            part.removesuffix(".py") for part in file.relative_to(ROOT / "queueing").parts
        )
        here = layer(name, inner[0] if inner else "")
        for api, there, part in IMPORT.findall(file.read_text()):
            found.add((here, "api" if api else layer(there, part)))
    return {(here, there) for here, there in found if there and here != there}


def below(package: str, arrows: set[tuple[str, str]]) -> set[str]:
    """Return what can be reached along arrows."""
    direct = {there for here, there in arrows if here == package}
    return direct.union(*(below(one, arrows) for one in direct))


def test_the_picture_of_the_packages_is_the_one_that_imports_draw() -> None:
    picture = (ROOT / "ARCHITECTURE.md").read_text().split("```mermaid")[1]
    drawn = set(ARROW.findall(picture))
    real = imports()
    assert sorted(drawn - real) == []
    assert sorted(one for one in real if one[1] not in below(one[0], drawn)) == []


def test_the_picture_of_the_controller_is_the_one_that_imports_draw() -> None:
    files = [
        (file, file.relative_to(CONTROLLER).parts[0].removesuffix(".py"))
        for file in CONTROLLER.rglob("*.py")
    ]
    for one in CAPABILITIES:
        folder = ROOT / "queueing" / one
        files += [(file, one) for file in (folder / "shell").rglob("*.py")]
        files += [(file, "stores") for file in folder.glob("memory*/**/*.py")]
    real = {
        (here, there)
        for file, here in files
        for inside, capability, memory in INSIDE.findall(file.read_text())
        if here != (there := inside or ("stores" if memory else capability))
    }
    drawn = set(ARROW.findall((ROOT / "ARCHITECTURE.md").read_text().split("```mermaid")[3]))
    assert len(drawn) > 20
    assert sorted(drawn - real) == []
    assert sorted(one for one in real if one[1] not in below(one[0], drawn)) == []


def test_every_coined_word_stands_in_the_module_that_its_row_links_to() -> None:
    page = ROOT / "docs" / "concepts" / "words.md"
    rows = [(words, to) for words, to in ROW.findall(page.read_text()) if to.endswith(".py")]
    assert len(rows) > 20
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


def test_every_test_that_the_page_of_credits_names_is_there() -> None:
    page = (ROOT / "docs" / "concepts" / "credits.md").read_text()
    table = page.split("## Games people play")[1].split("\n## ")[0]
    named = re.findall(r"`([a-z]+(?:_[a-z]+){3,})`", table)
    tests = "\n".join(one.read_text() for one in (ROOT / "tests").rglob("*credits/*.py"))
    assert len(named) > 15
    assert [one for one in named if f"def test_{one}(" not in tests] == []


def test_the_index_of_decisions_has_every_page_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text()
    titles = {one.name: one.read_text().partition("\n")[0] for one in folder.glob("0*.md")}
    wrong = [
        name
        for name, title in titles.items()
        if f"| [{name[:4]}]({name}) | {title.removeprefix(f'# {name[:4]} ')} |" not in index
    ]
    assert wrong == []
    assert len(titles) > 20


def test_every_decision_that_the_code_names_has_a_page() -> None:
    numbers = {one.name[:4] for one in (ROOT / "docs" / "decisions").glob("0*.md")}
    named = [
        (str(file.relative_to(ROOT)), number)
        for folder in ("queueing", "tests", "e2e", "bench")
        for file in (ROOT / folder).rglob("*.py")
        for number in re.findall(r"docs/decisions/(\d{4})", file.read_text())
    ]
    assert len(named) > 5
    assert [one for one in named if one[1] not in numbers] == []


@pytest.mark.parametrize("package", sorted(MAPPED))
def test_the_map_of_a_package_names_each_of_its_modules(package: str) -> None:
    folder = ROOT / "queueing" / package
    told = (folder / "__init__.py").read_text()
    modules = {one.stem for one in folder.iterdir() if one.suffix == ".py" or one.is_dir()}
    assert sorted(one for one in modules if one[0] != "_" and f"`{one}" not in told) == []
