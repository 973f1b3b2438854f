"""A world in the short form of scenarios, who is asked about in it, and what is told."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from queueing.core.names import Key, QueueName
from queueing.core.settings import Compatibility
from queueing.explain import answers
from queueing.explain.model import Explanation
from queueing.explain.text import written
from queueing.sim.documents import Document, parse
from queueing.sim.intake import read_world
from queueing.sim.rest import at_rest
from queueing.sim.world import SimulatedCluster
from queueing.sim.yaml_text import read
from tests.scenarios.lines import NOW
from tests.scenarios.short_form import expand

CASES = tuple(sorted((Path(__file__).parent / "cases").glob("*.yaml")))
_TOLD = "told:"


class Case:
    """One file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.page: Any = yaml.safe_load(path.read_text(encoding="utf-8"))

    def cluster(self) -> SimulatedCluster:
        """Return the world at rest."""
        text = self.path.read_text(encoding="utf-8")
        value, node = next(read(text, file=self.path.name))
        page = Document(file=self.path.name, value=value, node=node)
        full = parse(value.get("manifests", ""), file=self.path.name)
        mode = Compatibility(value.get("compatibility", Compatibility.QUEUEING))
        world = read_world([*expand(page, full), *full], now=NOW, compatibility=mode)
        return at_rest(world.facts, settings=world.settings, now=NOW)

    def answers(self) -> Iterator[Explanation]:
        """Yield what is answered to each question of the file."""
        engine = self.cluster().engine
        ask: dict[str, Callable[[str], Explanation | None]] = {
            "workload": lambda name: answers.workload(engine, Key(name)),
            "clusterqueue": lambda name: answers.cluster_queue(engine, QueueName(name)),
            "localqueue": lambda name: answers.local_queue(engine, Key(name)),
        }
        for question in self.page["ask"]:
            kind, _, name = question.partition("/")
            found = ask[kind](name)
            assert found is not None, f"nothing is known of {question}"
            yield found

    def told(self) -> str:
        """Return all answers as text."""
        return "\n\n".join(map(written, self.answers())) + "\n"

    def rewrite(self, told: str) -> None:
        """Replace what the file says is told; all above stays as it is."""
        text = self.path.read_text(encoding="utf-8")
        above = text[: text.index(f"\n{_TOLD}") + 1]
        block = "".join(f"  {line}\n" if line else "\n" for line in told.splitlines())
        self.path.write_text(f"{above}{_TOLD} |\n{block}", encoding="utf-8")
