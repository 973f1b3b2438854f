"""Nodes that fail are noted in the Workloads that were given them."""

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from queueing.controller.placement.failures import Failures
from queueing.controller.placement.placed_workloads import PlacedWorkloads
from queueing.controller.placement.pods import Pods
from queueing.controller.stores.objects import Objects
from queueing.controller.term import Term
from queueing.controller.writing.events import Events
from queueing.core.names import Key
from queueing.core.settings import Compatibility
from queueing.core.topology.health import KUEUE_HEALTH
from queueing.kube.events import EventNote, Regarding
from queueing.kube.reflector import Added, Deleted, Modified
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.placed_pods import PlacedPod
from queueing.translate.wire.nodes import Node
from queueing.translate.wire.workloads import Workload

HOSTNAME = "kubernetes.io/hostname"
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"
PARENT = {"kueue.x-k8s.io/concurrent-admission-parent": "true"}
W = Key("team/w")


class Cluster:
    """What is written, and what is watched."""

    def __init__(self) -> None:
        self.objects, self.written, self.told = Objects(), list[dict[str, Any]](), list[str]()
        writes = SimpleNamespace(patch_workload=self._patch_workload, patch=self._patch)
        term = SimpleNamespace(
            objects=self.objects,
            writes=writes,
            events=Events(self, Compatibility.KUEUE),
            reporter=SimpleNamespace(evicted=lambda *_: None),
            clock=SimpleNamespace(now=lambda: 1_000.0),
        )
        self.pods, self.placed = Pods(), PlacedWorkloads(self.objects)
        self.failures = Failures(cast("Term", term), self.placed, self.pods, KUEUE_HEALTH)
        self.pods.hear.append(self.failures.pod_changed)

    def record(self, regarding: Regarding, note: EventNote) -> None:
        of_pod = regarding.kind == "Pod"
        self.told.append(
            f"{regarding.name} {note.reason}" if of_pod else f"{note.reason}: {note.message}"
        )

    async def _patch_workload(self, _: Workload, body: bytes) -> None:
        self.written.append(json.loads(body)["status"])

    async def _patch(self, _: object, body: bytes) -> bytes:
        self.written.append(json.loads(body)["status"])
        return b""

    def node(
        self,
        name: str,
        *,
        ready: str = "True",
        host: str = "",
        taint: str = "",
        effect: str = "NoExecute",
    ) -> None:
        metadata = {"name": name, "labels": {HOSTNAME: host or name}}
        conditions = [{"type": "Ready", "status": ready}] if ready else []
        taints = [{"key": taint, "effect": effect}] if taint else []
        found = {"metadata": metadata, "spec": {"taints": taints}}
        node = read(Node, found | {"status": {"conditions": conditions}})
        self.failures.on_node(Added(node))

    def gone(self, name: str) -> None:
        self.failures.on_node(Deleted(name, "", None))

    def pod(self, name: str, *, on: str = "", to: str = "", of: str = "main", **more: Any) -> None:
        metadata = {"name": name, "namespace": "team", "uid": name, **more}
        metadata["annotations"] = {"kueue.x-k8s.io/workload": "w"}
        metadata["labels"] = {"kueue.x-k8s.io/podset": of}
        spec = {"nodeName": on, "nodeSelector": {HOSTNAME: to or on}}
        self.pods.on_pod(Modified(read(PlacedPod, {"metadata": metadata, "spec": spec})))

    def workload(
        self,
        *hosts: str,
        failed: tuple[str, ...] = (),
        levels: str = HOSTNAME,
        tolerates: str = "",
        **meta: Any,
    ) -> None:
        domains = {
            "domainCount": len(hosts),
            "valuesPerLevel": [{"individual": {"roots": list(hosts)}}],
            "podCounts": {"universal": 1},
        }
        flavor = meta.get("annotations", {}).get(ALLOWED, "best")
        held = {"name": "main", "flavors": {"cpu": flavor}}
        held |= {"topologyAssignment": {"levels": [levels], "slices": [domains]}}
        status = {
            "conditions": [{"type": "Admitted", "status": "True"}],
            "admission": {"clusterQueue": "q", "podSetAssignments": [held]},
            "unhealthyNodes": [{"name": one} for one in failed],
        }
        metadata = {"name": "w", "namespace": "team", "uid": "w", "resourceVersion": "1", **meta}
        tolerations = [{"key": tolerates, "operator": "Exists"}] if tolerates else []
        pod_set = {"name": "main", "template": {"spec": {"tolerations": tolerations}}}
        made = {"metadata": metadata, "spec": {"podSets": [pod_set]}, "status": status}
        self.objects.put_workload(read(Workload, made))
        found = self.placed.changed(Key(f"team/{metadata['name']}"))
        if found is not None:
            self.failures.workload_changed(found)

    def variant(self, flavor: str, *hosts: str) -> None:
        """Admit a variant of `w`."""
        owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "w"}
        owners = [{**owner, "uid": "w", "controller": True}]
        self.workload(*hosts, name=flavor, annotations={ALLOWED: flavor}, ownerReferences=owners)

    async def look(self) -> list[dict[str, Any]]:
        """Look at the Workload if somebody asked for it; return what was written."""
        self.written.clear()
        while len(self.failures.queue):
            key = await self.failures.queue.next()
            await self.failures.look(key)
            self.failures.queue.done(key)
        return self.written


@pytest.fixture
def at() -> Cluster:
    made = Cluster()
    for name in ("n1", "n2"):
        made.node(name)
    made.workload("n1", "n2")
    return made


def failed(written: list[dict[str, Any]]) -> list[list[str] | None]:
    names = [one.get("unhealthyNodes") for one in written]
    return [one and [each["name"] for each in one] for one in names]


async def test_a_node_that_is_gone_is_noted(at: Cluster) -> None:
    assert await at.look() == []
    at.gone("n1")
    assert failed(await at.look()) == [["n1"]]


async def test_a_node_that_is_not_ready_is_noted_when_no_pod_runs_there(at: Cluster) -> None:
    at.pod("a", on="n1")
    at.node("n1", ready="False")
    assert await at.look() == []
    at.pod("a", on="n1", deletionTimestamp="2026-01-01T00:00:00Z")
    assert failed(await at.look()) == [["n1"]]


async def test_a_node_that_recovers_is_noted_no_more(at: Cluster) -> None:
    at.node("n1", ready="False")
    at.workload("n1", "n2", failed=("n1",))
    assert await at.look() == []
    at.node("n1")
    assert failed(await at.look()) == [None]


async def test_a_node_that_flaps_between_two_looks_changes_nothing(at: Cluster) -> None:
    for ready in ("False", "True", "Unknown", "True"):
        at.node("n1", ready=ready)
    assert await at.look() == []


async def test_a_second_failed_node_evicts(at: Cluster) -> None:
    at.workload("n1", "n2", failed=("n1",))
    at.gone("n1")
    at.gone("n2")
    (written,) = await at.look()
    assert written["unhealthyNodes"] is None
    why = (
        "Workload eviction triggered due to multiple TAS assigned node failures, including: n1, n2"
    )
    assert at.told == [f"EvictedDueToNodeFailures: {why}"]


async def test_pods_that_wait_for_a_failed_node_are_ended(at: Cluster) -> None:
    at.pod("waits", to="n1")
    at.pod("elsewhere", to="n2")
    at.node("n1", taint="broken")
    noted, ended = await at.look()
    assert failed([noted]) == [["n1"]]
    (condition,) = ended["conditions"]
    assert (ended["phase"], condition["type"]) == ("Failed", "TerminatedByKueue")
    assert condition["reason"] == "UnschedulableOnAssignedNode"
    assert at.told == ["waits PodTerminatedByKueue"]


async def test_pods_that_wait_for_a_node_that_their_workload_left_are_ended(at: Cluster) -> None:
    at.workload("n1", "n2", failed=("n1",))
    at.gone("n1")
    at.pod("waits", to="n1")
    await at.look()
    at.workload("n2")
    (ended,) = await at.look()
    assert ended["phase"] == "Failed"


@pytest.mark.parametrize(
    ("levels", "of"),
    [
        pytest.param("rack", "main", id="no nodes were chosen"),
        pytest.param(HOSTNAME, "other", id="nodes were chosen for another pod set"),
    ],
)
@pytest.mark.parametrize("to", ["n1", "n3"])
async def test_pods_that_name_a_node_of_their_own_are_not_ended(
    at: Cluster, levels: str, of: str, to: str
) -> None:
    at.node("n3", taint="tolerated")
    at.node("n1", taint="broken")
    at.workload("n1", failed=("n1",), levels=levels)
    at.pod("waits", to=to, of=of)
    assert [one for one in await at.look() if "phase" in one] == []


async def test_a_topology_of_racks_has_no_failed_nodes(at: Cluster) -> None:
    at.workload("r1", levels="rack")
    at.gone("n1")
    assert await at.look() == []


async def test_of_two_nodes_of_one_hostname_the_first_speaks_for_both(at: Cluster) -> None:
    at.node("n1-again", host="n1")
    at.gone("n1")
    assert await at.look() == []
    at.gone("n1-again")
    assert failed(await at.look()) == [["n1"]]


async def test_a_host_is_known_by_its_label_and_not_by_the_name_of_its_node(at: Cluster) -> None:
    at.node("machine-7", host="n7")
    at.workload("n7")
    assert await at.look() == []
    at.pod("a", on="machine-7")
    at.node("machine-7", host="n7", ready="False")
    assert await at.look() == []


@pytest.fixture
def family() -> Cluster:
    """Return a cluster with a parent that runs on `n1`, by its variant `best`."""
    made = Cluster()
    for name in ("n1", "n2"):
        made.node(name)
    made.workload("n1", labels=PARENT)
    made.variant("best", "n1")
    made.pod("a", on="n1")
    return made


async def test_a_variant_is_judged_by_the_pods_of_its_parent(family: Cluster) -> None:
    family.node("n1", ready="False")
    assert await family.look() == []
    family.pod("a", on="n1", deletionTimestamp="2026-01-01T00:00:00Z")
    assert failed(await family.look()) == [["n1"]], "once: not in the parent, too"


async def test_a_variant_by_which_nothing_runs_yet_is_not_judged_by_the_pods_of_its_parent(
    family: Cluster,
) -> None:
    family.pod("waits", to="n1")
    family.variant("good", "n2")
    family.gone("n2")
    assert failed(await family.look()) == [["n2"]], "and the pod is not ended"


async def test_pods_of_a_parent_are_ended_that_wait_for_a_node_that_its_variant_left(
    family: Cluster,
) -> None:
    family.pod("waits", to="n1")
    family.gone("n1")
    family.variant("best", "n2")
    ended = await family.look()
    assert [one.get("phase") for one in ended] == ["Failed"]


@pytest.mark.parametrize(
    ("taint", "effect", "looks"),
    [
        pytest.param("gpu", "NoSchedule", 0, id="tolerated"),
        pytest.param("other", "PreferNoSchedule", 0, id="that keeps no pod away"),
        pytest.param("other", "NoSchedule", 1, id="that keeps pods away"),
    ],
)
async def test_a_taint_is_looked_at_with_each_pod_if_it_may_fail_the_workload(
    at: Cluster, taint: str, effect: str, looks: int
) -> None:
    at.workload("n1", tolerates="gpu")
    at.node("n1", taint=taint, effect=effect)
    await at.look()
    at.pod("a", on="n1")
    at.workload("n1", tolerates="gpu")
    assert len(at.failures.queue) == looks


class Counted:
    """A pod that counts how often somebody asks where it runs."""

    def __init__(self, pod: PlacedPod) -> None:
        self.pod, self.asked = pod, 0

    def __getattr__(self, name: str) -> Any:
        self.asked += name == "spec"
        return getattr(self.pod, name)


async def test_a_look_asks_no_pod_once_more_for_each_node(
    at: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"n{number}" for number in range(40)]
    for name in names:
        at.node(name)
        at.pod(name, on=name)
    at.workload(*names)
    pods = [Counted(one) for one in at.pods.of(W)]
    monkeypatch.setattr(at.pods, "of", lambda _: pods)
    at.gone("n0")
    assert failed(await at.look()) == [["n0"]]
    assert max(one.asked for one in pods) <= 2
