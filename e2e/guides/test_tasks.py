"""Every line of every page of `docs/tasks` does what the page says.

Those that need an installation are played in `test_installed`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from e2e.controlplane.build import Binaries
from e2e.guides.pages import Command, Manifest, NotPlayed, pages, steps
from e2e.guides.stage import Person, stage
from e2e.guides.worlds import World, merged

PLAYED = {
    page.stem: page for page in pages() if any(isinstance(one, Command) for one in steps(page))
}
LEFT_OUT = {
    "needs a registry and nodes that pull images": {"install": 2},
    "needs an installation whose pods run": {"look-at-the-page": 1, "record-and-replay": 1},
    "needs a pod with a sidecar": {"save-before-preemption": 1},
    "needs a driver of devices": {"serve-devices": 1},
}
"""Why some blocks are not played, and how many each page has."""


@pytest.mark.parametrize("page", PLAYED)
def test_every_line_of_a_page_does_what_the_page_says(
    page: str, built: Binaries, tmp_path: Path
) -> None:
    world, played = World.of(page), steps(PLAYED[page])
    blocks = [one for one in played if isinstance(one, Manifest)]
    assert len(world.blocks) == len(blocks), "what becomes of each block of YAML?"
    typed = {_first_line(one) for one in played if isinstance(one, Command)}
    assert set(world.before) <= typed, "something is to be done before a command that is gone"
    uses = dict(zip(blocks, world.blocks, strict=True))
    with stage(prepared(world, uses), tmp_path, built.command("kubectl")) as person:
        part: Any = {}
        for step in played:
            if isinstance(step, Manifest):
                part = step.documents[0]
                handle(person, step, uses[step])
            elif isinstance(step, Command):
                for one in world.before.get(_first_line(step), ()):
                    mine = part if one.get("part") else {}
                    person.apply(merged({key: one[key] for key in one if key != "part"}, mine))
                person.types(step)


def _first_line(command: Command) -> str:
    return command.text.partition("\n")[0]


def prepared(world: World, uses: Mapping[Manifest, Any]) -> World:
    """Return a world with what its reader does with blocks before anything else."""
    configuration, files = world.configuration, dict(world.files)
    for block, use in uses.items():
        if use == "configure":
            configuration = merged(configuration, block.documents[0])
        elif isinstance(use, dict) and "save" in use:
            for name in use["save"]:
                before = files.get(name)
                files[name] = f"{before}---\n{block.text}" if before else block.text
    return replace(world, configuration=configuration, files=files)


def handle(person: Person, block: Manifest, use: Any) -> None:
    """Do with a block of YAML what its reader does."""
    match use:
        case "apply":
            person.apply(*block.documents)
        case {"into": targets}:
            parts = block.documents if len(block.documents) > 1 else block.documents * len(targets)
            for target, part in zip(targets, parts, strict=True):
                person.apply(merged(target, part))
        case _:
            assert use in ("configure", "read") or "save" in use, block.text


def test_only_what_needs_more_than_this_machine_is_left_out() -> None:
    found: dict[str, Counter[str]] = {}
    for page in pages():
        for step in steps(page):
            if isinstance(step, NotPlayed):
                found.setdefault(step.reason, Counter())[page.stem] += 1
    assert found == LEFT_OUT
