"""What a page has its reader do: manifests to apply, commands to type, and what these print."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tasks"
_BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_NOT_PLAYED = re.compile(r"<!-- not played: ([^>]+) -->\s*\Z")
_ON_AN_INSTALLATION = re.compile(r"<!-- played on an installation -->\s*\Z")
_HERE_DOCUMENT = re.compile(r"<<-?'?(\w+)'?\s*$")
PROMPT = "$ "
TYPED = frozenset({"", "console", "sh"})
"""Languages of blocks that people type."""
SHOWN = frozenset({"diff", "python"})
"""Those of blocks of which people make something of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """A block of YAML, as its documents."""

    documents: tuple[Any, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """What is typed, in one line or several; and the lines that it prints, if they are shown."""

    text: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """A block that cannot be played here, and the reason that the page's source gives."""

    reason: str


@dataclass(frozen=True, slots=True)
class Installed:
    """A block of commands that needs more of a cluster than `queueing dev` has."""

    commands: tuple[Command, ...]


Step = Manifest | Command | Installed | NotPlayed


def pages() -> list[Path]:
    """Return all pages, by name."""
    return sorted(FOLDER.glob("*.md"))


def steps(page: Path) -> list[Step]:
    """Return what a page has its reader do, in order.

    A block `text` is what the command before it prints.
    """
    found: list[Step] = []
    source = page.read_text("utf-8")
    for block in _BLOCK.finditer(source):
        indent, language, body = block.groups()
        text = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        if excuse := _NOT_PLAYED.search(source[: block.start()]):
            found.append(NotPlayed(excuse[1]))
        elif _ON_AN_INSTALLATION.search(source[: block.start()]):
            found.append(Installed(tuple(commands(text))))
        elif language == "yaml":
            found.append(Manifest(tuple(yaml.safe_load_all(text)), text))
        elif language == "text":
            last = found[-1]
            assert isinstance(last, Command), (page.name, text, "is printed by no command")
            found[-1] = replace(last, shown=tuple(text.splitlines()))
        elif language in TYPED:
            found += commands(text)
        else:
            assert language in SHOWN, (page.name, language, text, "is neither played nor known")
    return found


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a block: all lines, or those with a prompt and what they print."""
    lines = text.splitlines()
    prompted = any(line.startswith(PROMPT) for line in lines)
    ahead = ""
    while lines:
        line = lines.pop(0)
        typed = line.removeprefix(PROMPT) if prompted else line
        while not _is_whole(typed):
            assert lines, (text, "has a command without an end")
            typed += "\n" + lines.pop(0)
        shown: list[str] = []
        while prompted and lines and not lines[0].startswith(PROMPT):
            shown.append(lines.pop(0))
        if typed.rstrip().endswith("&"):  # `$!` of the next command is this one
            ahead += typed + "\n"
        elif typed.strip():
            yield Command(ahead + typed, tuple(shown))
            ahead = ""


def _is_whole(typed: str) -> bool:
    """Say whether a shell would run this, or wait for another line."""
    first, *rest = typed.splitlines() or [""]
    if here := _HERE_DOCUMENT.search(first):
        return here[1] in rest
    if typed.endswith(("\\", "|", "&&")):
        return False
    try:
        words = shlex.split(typed, comments=True)
    except ValueError:  # a quotation goes on
        return False
    return words.count("do") <= sum(one.rstrip(";") == "done" for one in words)
