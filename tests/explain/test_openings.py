"""Whom it costs to make room, on many nodes."""

import pytest

from queueing.core.names import FlavorName
from queueing.explain.layout import Tenant
from queueing.explain.openings import WantedPods, openings_of
from queueing.state.memory.memory import Memory
from tests.explain.worlds import engine_of

NODES = 30


def memory() -> Memory:
    """Return what is known of nodes that one workload each fills."""
    numbers = range(NODES)
    written = {
        "flavors": {"gpu": {"nodeLabels": {"pool": "gpu"}, "topologyName": "dc"}},
        "nodes": {f"n{one}": {"in": f"a/r{one}", "cpu": 4} for one in numbers},
        "queues": {"q": {"cpu": {"gpu": 10 * NODES}}},
        "running": {
            f"w{one}": {"cpu": 4, "count": 1, "priority": one, "on": {f"n{one}": 1}}
            for one in numbers
        },
    }
    return engine_of(written).memory


def test_only_those_who_sit_in_a_domain_are_asked_how_many_pods_they_have_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, asked, pods = memory(), list[Tenant](), Tenant.pods

    def counted(one: Tenant, keys: set[str] | None = None) -> int:
        asked.append(one)
        return pods(one, keys)

    monkeypatch.setattr(Tenant, "pods", counted)
    wanted = WantedPods(level="rack", count=1, pod=(), below=None)
    found = openings_of(known, FlavorName("gpu"), wanted)
    assert [one.domain for one in found.openings] == ["a/r0", "a/r1", "a/r2"]
    assert len(asked) < 3 * NODES
