"""The page about the life of a waiting workload tells what the engine does."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.facts import PreemptionPolicy, WorkloadFact
from queueing.core.names import Key, name_of
from queueing.core.settings import Settings
from queueing.sim import transitions
from queueing.state.cycle.driver import run_cycle
from queueing.state.intake.surroundings import put_object
from queueing.state.intake.workloads import observe_workload
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, peers_of
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    condition,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "concepts" / "waiting.md").read_text()


class Story:
    """The world of the example; `then` runs a cycle and tells the row of the page."""

    def __init__(self) -> None:
        self.memory, self.now = Memory.empty(Settings()), 0.0
        reclaims = preemption(reclaim=PreemptionPolicy.ANY)
        for one in (
            cohort("lab"),
            flavor(),
            namespace(),
            cluster_queue("batch", {"default": {"cpu": 4}}, cohort="lab"),
            cluster_queue("live", {"default": {"cpu": 6}}, cohort="lab", preemption=reclaims),
            local_queue("team/batch", "batch"),
            local_queue("team/live", "live"),
        ):
            put_object(self.memory, one)

    def comes(self, name: str, cpus: int, queue: str = "batch") -> None:
        door = f"team/{queue}"
        fact = workload(name, {"cpu": cpus}, local_queue=door, created=self.now)
        observe_workload(self.memory, fact)
        self.now += 1.0

    def ends(self, name: str) -> None:
        fact = self._fact(name)
        over = {**fact.conditions, "Finished": condition("Finished", "Succeeded")}
        observe_workload(self.memory, replace(fact, conditions=over))

    def drains(self, name: str) -> None:
        observe_workload(self.memory, transitions.drained(self._fact(name), now=self.now))

    def then(self, happened: str) -> str:
        cycle = run_cycle(self.memory, self.now, None)
        for one in cycle.decisions:
            before = self.memory.workloads[one.workload]
            if isinstance(one, Admit):
                fact = transitions.admitted(before, one, now=self.now)
                observe_workload(self.memory, fact)
            elif isinstance(one, Preempt):
                fact = transitions.preempted(before, one, now=self.now)
                observe_workload(self.memory, fact)
        cells = (happened, str(cycle.judged), decided(cycle), "; ".join(self._waiting()))
        return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"

    def _fact(self, name: str) -> WorkloadFact:
        return self.memory.workloads[Key(f"team/{name}")]

    def _waiting(self) -> Iterator[str]:
        told: dict[str, list[str]] = {}
        for item in self.memory.items.values():
            told.setdefault(self._how(item), []).append(spelled(item.fact.key))
        for how, names in told.items():
            yield f"{', '.join(names)}: {how}"

    def _how(self, item: Item) -> str:
        memory, peers = self.memory, peers_of(item)
        queue, claim = memory.queues[peers.queue], memory.claims.of(item.fact.key)
        filing = queue.shelves.filing(peers)
        if claim is None and filing is not None:
            ((_, asked),) = filing.asked
            return f"on the shelf at {asked}"
        words = [peers.stand.name.lower()]
        words += ["stands"] if item.fact.key in memory.standing else []
        words += [f"claims {' and '.join(map(spelled, claim.victims))}"] if claim else []
        words += ["hopeful"] if peers in queue.hopeful else []
        words += ["kept off"] if peers in queue.kept_off else []
        return ", ".join(words)


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
    told.comes("tiny", 1)
    yield told.then("`tiny` (1) comes to `batch`")
    told.ends("tiny")
    yield told.then("`tiny` ends")
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


def test_the_picture_names_functions_that_are_there() -> None:
    named = set(re.findall(r"\b([a-z_]+)\.([a-z_]+)\b", PAGE.split("```")[1]))
    missing = [
        (module, name)
        for module, name in named
        if not any(
            f"\ndef {name}(" in file.read_text()
            for package in ("state", "core")
            for file in (ROOT / "queueing" / package).rglob(f"{module}.py")
        )
    ]
    assert len(named) > 8
    assert missing == []


def test_every_module_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert len(named) > 10
    assert [one for one in named if not (ROOT / "queueing" / "state" / one).exists()] == []
