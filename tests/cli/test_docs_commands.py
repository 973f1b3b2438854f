"""What the pages tell people to type can be typed, and what they show can be applied."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from queueing.cli.main import cli
from queueing.sim.documents import parse
from queueing.sim.kinds import check_shape, is_known

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tasks").glob("*.md")),
    *sorted((ROOT / "docs" / "concepts").glob("*.md")),
]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\s*(?:\$ )?(?:kubectl )?queueing (.*?)(?:\s{3,}.*|\s+#.*|\s+[|>&].*)?$")
INLINE = re.compile(r"`queueing ([^`]+)`")
METRIC = re.compile(r"(?<![\w/.])(?:kueue|queueing)_[a-z_]+")
PACKAGES = frozenset({"queueing_api", "queueing_checkpoint"})
WHOLE = re.compile(r"The whole manifest: \[[^]]+\]\(([^)]+)\)")
ENDS = frozenset({"…", "..."})

each_page = pytest.mark.parametrize(
    "page", [pytest.param(one, id=str(one.relative_to(ROOT))) for one in PAGES]
)


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for indent, language, text in BLOCK.findall(page.read_text()):
        if language in languages:
            yield re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)


def commands(page: Path) -> Iterator[str]:
    for text in blocks(page, "", "console", "sh"):
        for line in text.replace("\\\n", " ").splitlines():
            if found := COMMAND.match(line):
                yield found[1]
    yield from INLINE.findall(page.read_text())


def problem_of(typed: str) -> str:
    """Say what is wrong with the words after `queueing`; empty if they can be typed."""
    name, *words = shlex.split(typed)
    words = [word for word in words if word not in ENDS]
    if name.startswith("-") or name in ENDS:
        return ""
    context = click.Context(cli, info_name="queueing", **cli.context_settings)
    command = cli.get_command(context, name)
    if command is None:
        return f"no command {name}"
    try:
        parser = command.make_parser(click.Context(command, parent=context, info_name=name))
        parser.parse_args(args=words)
    except click.UsageError as error:
        # A page may speak of a flag without its value.
        return "" if "requires an argument" in error.message else error.message
    return ""


@each_page
def test_every_command_of_a_page_exists_with_its_flags(page: Path) -> None:
    found = {typed: problem_of(typed) for typed in commands(page)}
    assert {typed: why for typed, why in found.items() if why} == {}


@each_page
def test_every_target_of_make_and_every_folder_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z0-9-]+)", text, re.MULTILINE))
    assert named - targets == set()
    places = re.findall(r"(?:-f|-k|of `|in `) ?((?:config|examples|charts)/[\w./-]*\w)", text)
    assert [one for one in places if not (ROOT / one).exists()] == []


@each_page
def test_every_metric_that_a_page_names_exists(page: Path) -> None:
    known = set(METRIC.findall((ROOT / "docs" / "reference" / "metrics.md").read_text()))
    named = {re.sub("_(bucket|count|sum)$", "", one) for one in METRIC.findall(page.read_text())}
    assert {one for one in named if one.rstrip("_") not in PACKAGES} <= known


@each_page
def test_every_manifest_of_a_page_has_fields_that_exist(page: Path) -> None:
    wrong = []
    for text in blocks(page, "yaml"):
        whole = [one for one in yaml.safe_load_all(text) if isinstance(one, dict)]
        if all("apiVersion" in one and "kind" in one for one in whole):
            known = [one for one in parse(text, file=page.name) if is_known(one)]
            wrong += [one for each in known for told in check_shape(each) for one in told]
    assert wrong == []


def is_part(part: object, whole: object) -> bool:
    """Say whether a manifest says all that a part of it says."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(name in whole and is_part(one, whole[name]) for name, one in part.items())
    return part == whole


@pytest.mark.parametrize(
    "page", [pytest.param(one, id=one.stem) for one in PAGES if WHOLE.search(one.read_text())]
)
def test_a_part_of_a_manifest_is_what_the_whole_one_says(page: Path) -> None:
    (name,) = WHOLE.findall(page.read_text())
    whole = yaml.safe_load((page.parent / name).read_text())
    (part,) = (yaml.safe_load(text) for text in blocks(page, "yaml"))
    assert is_part(part, whole)
