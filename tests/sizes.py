"""How large each capability is, beside the most that a reader is asked to bear: `make sizes`.

Every line counts, also blank ones and docstrings, so that nothing is won by writing closely.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from queueing.state.memory.memory import Memory

ROOT = Path(__file__).parents[1]
TOPOLOGY = (
    "core/topology",
    "core/placement",
    "core/second_pass.py",
    "state/intake/returning.py",
    "state/memory/places.py",
    "state/scheduler/moved.py",
    "state/scheduler/second_passes.py",
    "controller/placement",
)
PODS = (
    *("controller/jobs/pod_alone.py", "controller/jobs/pod_group.py"),
    "controller/jobs/pod_writer.py",
    "translate/jobs/pods",
    *("webhooks/marking.py", "webhooks/pod_gates.py", "webhooks/policies/gating.py"),
    "webhooks/policies/pods.py",
)
"""What queues pods, alone and in groups: a kind as well."""


class Lines(NamedTuple):
    """The code of a capability, as folders and modules of `queueing`."""

    of: str
    most: int
    paths: Sequence[str]
    without: Sequence[str] = ()


LINES = (
    Lines("state, without credits and topology", 4_300, ["state"], ["state/credits", *TOPOLOGY]),
    Lines("state: scheduler and queues", 1_900, ["state/scheduler", "state/queues"]),
    Lines(
        "core, without credits, checkpoints and topology",
        6_500,
        ["core"],
        ["core/credits", "core/stakes.py", *TOPOLOGY],
    ),
    Lines("credits: core and state", 4_300, ["core/credits", "state/credits"]),
    Lines("topology: core, state and controllers", 5_000, TOPOLOGY),
    Lines(
        "kinds of jobs, pods among them",
        7_000,
        ["kinds", "controller/pod_owners", "controller/queueable_kinds", *PODS],
    ),
    Lines("embedded API server", 8_100, ["apiserver"]),
)


def lines(one: Lines) -> int:
    """Count the lines of a capability."""
    product = ROOT / "queueing"
    roots = [product / path for path in one.paths]
    aside = [product / path for path in one.without]
    missing = [str(path) for path in (*roots, *aside) if not path.exists()]
    assert missing == []
    modules = {module for root in roots for module in (root, *root.rglob("*.py"))}
    return sum(
        len(module.read_text().splitlines())
        for module in modules
        if module.is_file() and not any(module.is_relative_to(path) for path in aside)
    )


def sizes() -> Iterator[tuple[str, int, int]]:
    """Yield what is counted, how many there are, and the most that there may be."""
    for one in LINES:
        yield f"lines of {one.of}", lines(one), one.most
    rows = (ROOT / "docs/concepts/words.md").read_text().splitlines()
    yield "words of our own", sum(one.startswith("| **") and ".py)" in one for one in rows), 25
    yield "pages of decisions", len(list((ROOT / "docs/decisions").glob("0*.md"))), 35
    yield "fields of Memory", len(fields(Memory)), 20


if __name__ == "__main__":
    for name, found, most in sizes():
        print(f"{name:60}{found:7,} of {most:,}")
