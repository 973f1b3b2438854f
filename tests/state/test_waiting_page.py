"""The page about the life of a waiting workload tells what the engine does."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from queueing.core.decisions import Admit, Cycle, Mode, Preempt
from queueing.core.facts import PreemptionPolicy
from queueing.core.names import Key, name_of
from queueing.core.settings import Rules
from queueing.testing.builders import cluster_queue, preemption, workload
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "concepts" / "waiting.md").read_text()
PROMISED = frozenset((Mode.PREEMPT, Mode.DEFERRED_FIT))


class Story:
    """The world of the example; `then` runs a cycle and tells the row of the page."""

    def __init__(self) -> None:
        reclaims = preemption(reclaim=PreemptionPolicy.ANY)
        batch = cluster_queue("batch", {"default": {"cpu": 4}}, cohort="lab")
        live = cluster_queue("live", {"default": {"cpu": 6}}, cohort="lab", preemption=reclaims)
        self.cluster = ObedientCluster(world(cluster_queues=[batch, live]))

    def comes(self, name: str, cpus: int, queue: str = "batch") -> None:
        now = self.cluster.now
        self.cluster.observe(
            workload(name, {"cpu": cpus}, local_queue=f"team/{queue}", created=now)
        )
        self.cluster.now += 10.0

    def ends(self, name: str) -> None:
        self.cluster.now += 10.0
        self.cluster.finish(Key(f"team/{name}"))

    def drains(self, name: str) -> None:
        self.cluster.now += 10.0
        self.cluster.drain(Key(f"team/{name}"))

    def then(self, happened: str) -> str:
        cycle = self.cluster.cycle()
        cells = (happened, str(cycle.judged), decided(cycle), "; ".join(self._waiting()))
        return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"

    def _waiting(self) -> Iterator[str]:
        told: dict[str, list[str]] = {}
        engine = self.cluster.engine
        for key in engine.pending_keys():
            wait = engine.waiting(key)
            promised = wait is not None and wait.mode in PROMISED
            told.setdefault("promised" if promised else "lacks quota", []).append(spelled(key))
        for how, names in sorted(told.items(), reverse=True):
            yield f"{', '.join(sorted(names))}: {how}"


def spelled(key: Key) -> str:
    return f"`{name_of(key)}`"


def decided(cycle: Cycle) -> str:
    """Tell who was admitted and who was preempted."""
    admitted = [one.workload for one in cycle.decisions if isinstance(one, Admit)]
    preempted = [one.workload for one in cycle.decisions if isinstance(one, Preempt)]
    told = ((admitted, "admitted"), (preempted, "preempted"))
    return "; ".join(f"{' and '.join(map(spelled, who))} {what}" for who, what in told if who)


def story() -> Iterator[str]:
    told = Story()
    told.comes("train", 5)
    told.comes("eval", 3)
    yield told.then("`train` (5) and `eval` (3) come to `batch`")
    told.comes("sweep-1", 6)
    told.comes("sweep-2", 6)
    yield told.then("`sweep-1` and `sweep-2` (6) come to `batch`")
    told.comes("serve", 5, "live")
    yield told.then("`serve` (5) comes to `live`")
    told.comes("lint", 1)
    yield told.then("`lint` (1) comes to `batch`")
    told.drains("eval")
    yield told.then("the pods of `eval` are gone")
    told.ends("serve")
    yield told.then("`serve` ends")
    told.ends("train")
    yield told.then("`train` ends")


def test_the_example_goes_as_the_page_tells() -> None:
    table = PAGE.split("|---|---|---|---|\n")[1].split("\n\n")[0]
    assert list(story()) == table.splitlines()


def test_the_page_explains_every_rule_of_the_default_mode() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert told == [one.name for one in fields(Rules)]


def test_the_picture_names_functions_that_are_there() -> None:
    named = set(re.findall(r"\b([a-z_]+)\.([a-z_]+)\b", PAGE.split("```")[1]))
    missing = [
        (module, name)
        for module, name in named
        if not any(
            re.search(rf"^ *def {name}\(", file.read_text(), re.MULTILINE)
            for package in ("state", "core")
            for file in (ROOT / "queueing" / package).rglob(f"{module}.py")
        )
    ]
    assert len(named) > 8
    assert missing == []


def test_the_page_is_read_in_a_minute_or_two() -> None:
    """One and a half screens, as GitHub shows it: about 800 words with the picture."""
    assert len(PAGE.split()) < 900
