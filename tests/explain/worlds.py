"""What an engine knows of a world in the short form of scenarios."""

from collections.abc import Mapping
from typing import Any

import yaml

from queueing.core.settings import Compatibility
from queueing.sim.documents import Document, parse
from queueing.sim.intake import read_world
from queueing.sim.world import SimulatedCluster
from queueing.sim.yaml_text import read
from queueing.state.engine import Engine
from tests.scenarios.short_form import expand


def engine_of(written: Mapping[str, Any], manifests: str = "") -> Engine:
    """Return an engine at rest; `manifests` are objects in full, beside those in short."""
    value, node = next(read(yaml.dump(dict(written), sort_keys=False), file="world"))
    page = Document(file="world", value=value, node=node)
    full = parse(manifests, file="manifests")
    text = yaml.dump_all([dict(one.value) for one in (*expand(page, full), *full)])
    world = read_world(parse(text, file="world"), now=0.0, compatibility=Compatibility.QUEUEING)
    return SimulatedCluster(world.facts, settings=world.settings).engine
