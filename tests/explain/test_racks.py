"""Who sits where, one domain at a time."""

import pytest

from queueing.core.names import FlavorName
from queueing.explain import answers
from queueing.explain.domain_model import Domain, ResourceFlavorExplanation
from queueing.explain.racks import SEATS_MAX
from queueing.state.engine import Engine
from tests.explain.worlds import engine_of

GPU = FlavorName("gpu")
ALL = (0, 500)


def engine() -> Engine:
    """Return what is known of two blocks: in one a gang on two racks, in the other many small."""
    small = {f"s{one:02}": {"cpu": 1, "count": 1, "on": {"n4": 1}} for one in range(SEATS_MAX + 2)}
    return engine_of(
        {
            "flavors": {"gpu": {"nodeLabels": {"pool": "gpu"}, "topologyName": "dc"}, "any": {}},
            "nodes": {
                "n1": {"in": "a/r1", "cpu": 4},
                "n2": {"in": "a/r1", "cpu": 4},
                "n3": {"in": "a/r2", "cpu": 4},
                "n4": {"in": "b/r3", "cpu": 20},
            },
            "queues": {"q": {"cpu": {"gpu": 100}}},
            "running": {
                "gang": {"cpu": 2, "count": 3, "priority": 5, "on": {"n1": 1, "n2": 1, "n3": 1}},
                "one": {"cpu": 1, "count": 1, "on": {"n1": 1}},
                **small,
            },
        }
    )


def told(*path: str, window: tuple[int, int] = ALL) -> ResourceFlavorExplanation:
    found = answers.flavor(engine(), GPU, path, window)
    assert found is not None
    return found


def seats(domain: Domain) -> list[tuple[str, int]]:
    return [(one.workload.partition("/")[2], one.pods) for one in domain.seats]


LINKED = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu, annotations: {queueing.dev/nearer-topologies: link}}
spec: {nodeLabels: {pool: gpu}, topologyName: dc}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: dc}
spec: {levels: [{nodeLabel: block}, {nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: link}
spec: {levels: [{nodeLabel: nvlink}, {nodeLabel: kubernetes.io/hostname}]}
"""


def test_domains_of_a_further_topology_lie_across_racks() -> None:
    known = engine_of(
        {
            "nodes": {
                "n1": {"in": "a/r1", "cpu": 4, "labels": {"pool": "gpu", "nvlink": "d1"}},
                "n2": {"in": "a/r1", "cpu": 4, "labels": {"pool": "gpu", "nvlink": "d2"}},
                "n3": {"in": "a/r2", "cpu": 4, "labels": {"pool": "gpu", "nvlink": "d1"}},
            },
            "queues": {"q": {"cpu": {"gpu": 100}}},
            "running": {"gang": {"cpu": 3, "count": 2, "on": {"n1": 1, "n3": 1}}},
        },
        LINKED,
    )
    own, link = (answers.flavor(known, GPU, (), ALL, one) for one in ("", "link"))
    assert own is not None
    assert link is not None
    assert own.topologies == link.topologies == ("dc", "link")
    assert (own.topology, link.topology) == ("dc", "link")
    assert [(one.name, one.fits, seats(one)) for one in link.domains] == [
        ("d1", 2, [("gang", 2)]),
        ("d2", 4, []),
    ]
    inside = answers.flavor(known, GPU, ("d1",), ALL, "link")
    assert inside is not None
    assert [one.name for one in inside.domains] == ["n1", "n3"]
    assert answers.flavor(known, GPU, (), ALL, "gone") is None


def test_flavors_with_a_topology_are_named() -> None:
    assert answers.flavors(engine()).flavors == ("gpu",)


def test_blocks_say_what_is_free_and_who_sits_in_them() -> None:
    found = told()
    assert (found.name, found.levels[-1], found.pod) == (
        "gpu",
        "kubernetes.io/hostname",
        {"cpu": "1"},
    )
    first, second = found.domains
    assert (first.name, first.nodes, first.free, first.room) == (
        "a",
        3,
        {"cpu": "5"},
        {"cpu": "12"},
    )
    assert first.fits == 5
    assert seats(first) == [("gang", 3), ("one", 1)]
    assert [one.uses for one in first.seats] == [{"cpu": "6"}, {"cpu": "1"}]
    assert (second.name, second.seats_in_all, len(second.seats)) == ("b", SEATS_MAX + 2, SEATS_MAX)


@pytest.mark.parametrize(
    ("path", "want"),
    [
        (("a",), {"r1": [("gang", 2), ("one", 1)], "r2": [("gang", 1)]}),
        (("a", "r1"), {"n1": [("gang", 1), ("one", 1)], "n2": [("gang", 1)]}),
    ],
)
def test_who_looks_into_a_domain_sees_those_below_it(
    path: tuple[str, ...], want: dict[str, list[tuple[str, int]]]
) -> None:
    found = told(*path)
    assert found.domain == path
    assert {one.name: seats(one) for one in found.domains} == want


def test_no_more_is_told_than_is_asked_for() -> None:
    found = told("a", window=(1, 1))
    assert [one.name for one in found.domains] == ["r2"]
    assert (found.offset, found.in_all) == (1, 2)


@pytest.mark.parametrize(
    ("flavor", "path"),
    [
        pytest.param("any", (), id="a flavor without a topology"),
        pytest.param("gone", (), id="no flavor"),
        pytest.param("gpu", ("c",), id="no domain"),
        pytest.param("gpu", ("b", "r1"), id="a domain of another one"),
        pytest.param("gpu", ("a", "r1", "n1"), id="a node, which has none below it"),
    ],
)
def test_what_is_not_there_is_not_told(flavor: str, path: tuple[str, ...]) -> None:
    assert answers.flavor(engine(), FlavorName(flavor), path, ALL) is None
