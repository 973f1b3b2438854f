"""A pod as the controller sees it, and its role in a group."""

from typing import Any

import msgspec
import pytest
from msgspec.json import encode

from queueing.kinds.jobs import read_job
from queueing.kinds.registry import kind_of
from queueing.translate.jobs.injection import ConflictError, Injection
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.pods.roles import role_hash
from queueing.translate.jobs.pods.view import PodJob, Pods, read_pod
from queueing.translate.labels import (
    GATE,
    MANAGED,
    POD_GROUP,
    POD_RANK,
    POD_RANK_LABEL,
    SUSPENDING_PARENT,
    TOPOLOGY_GATE,
)
from tests.kinds.rows import ROWS, sample

ROW = next(row for row in ROWS if row.framework == "pod")
Wire = dict[str, Any]


def pod(status: Wire | None = None, **metadata: Any) -> PodJob:
    thing = sample(ROW)
    meta = {**thing["metadata"], "namespace": "ns", "uid": "u", "resourceVersion": "1", **metadata}
    return read_pod(encode({**thing, "metadata": meta, "status": status or {}}))


def role(**spec: Any) -> str:
    return role_hash(msgspec.Raw(encode({"spec": spec})))


def test_roles_are_those_that_kueue_gives() -> None:
    assert role(containers=[{"resources": {"requests": {}}}]) == "a9f06f3a"
    assert role(containers=[{"resources": {"requests": {"cpu": "1"}}}]) == "dc85db45"


def test_a_role_depends_on_what_is_asked_for_and_where_not_on_what_runs() -> None:
    asks = {"resources": {"requests": {"cpu": "1"}}}
    plain = role(containers=[asks])
    assert role(containers=[{**asks, "image": "x", "command": ["y"]}]) == plain
    assert role(containers=[asks], priorityClassName="high") == plain
    others: list[Wire] = [
        {"nodeSelector": {"a": "b"}},
        {"priority": 5},
        {"initContainers": [asks]},
        {"resources": {"requests": {"cpu": "1"}}},
        {"resources": {}},
    ]
    for more in others:
        assert role(containers=[asks], **more) != plain


@pytest.mark.parametrize(
    "status",
    [{}, {"phase": "Running"}, *ROW.statuses.values()],
    ids=["new", "running", *ROW.statuses],
)
def test_a_pod_is_what_its_description_says(status: Wire) -> None:
    thing = sample(ROW)
    thing = {**thing, "metadata": {**thing["metadata"], "namespace": "ns"}, "status": status}
    told = read_job(kind_of("pod"), encode(thing), lambda _: None)
    mine = read_pod(encode(thing))
    assert mine.key == told.key
    assert (mine.suspended, mine.end) == (told.suspended, told.end)
    assert mine.priority_class == told.priority_class
    assert mine.wire_pod_sets()[0]["count"] == told.wire_pod_sets()[0]["count"]
    assert (
        mine.wire_pod_sets()[0]["template"]["spec"] == told.wire_pod_sets()[0]["template"]["spec"]
    )


def test_a_pod_holds_quota_from_its_start_until_it_has_ended() -> None:
    now = "2026-01-01T00:00:00Z"
    gone: Wire = {"deletionTimestamp": now}
    assert not pod().active
    bare = sample(ROW)["spec"] | {"schedulingGates": [], "nodeName": "n"}

    def ungated(status: Wire, **more: Any) -> PodJob:
        meta = {"name": "p", "namespace": "ns", **more}
        return read_pod(encode({"metadata": meta, "spec": bare, "status": status}))

    assert ungated({}).active
    assert ungated({"phase": "Running"}, **gone, deletionGracePeriodSeconds=30).active
    assert not ungated({"phase": "Running"}, **gone, deletionGracePeriodSeconds=0).active
    assert not ungated({"phase": "Failed"}).active
    assert pod(**gone).ended, "it has no node, and will get none"


def test_a_start_takes_the_gate_away_and_adds_what_the_admission_says() -> None:
    added = Injection(labels={"l": "1"}, annotations={"a": "1"}, node_selector={"n": "1"})
    (patch,) = pod(labels={POD_GROUP: "g"}).start([added])
    assert isinstance(patch, MergePatch)
    assert patch.body["spec"]["schedulingGates"] == [{"name": "example.com/own"}]
    assert patch.body["spec"]["nodeSelector"] == {"n": "1"}
    assert patch.body["metadata"]["labels"] == {"l": "1"}
    assert patch.body["metadata"]["annotations"]["kueue.x-k8s.io/role-hash"]


def test_a_pod_that_contradicts_its_admission_is_not_started() -> None:
    with pytest.raises(ConflictError, match="conflicting values for label 'l'"):
        pod(labels={"l": "2"}).start([Injection(labels={"l": "1"})])
    with pytest.raises(ConflictError, match="cannot be given devices"):
        pod().start([Injection(swaps={"gpu": "other"})])


def test_a_pod_keeps_the_gate_of_a_topology_only_if_that_chooses_its_node() -> None:
    gates = [{"name": GATE}, {"name": TOPOLOGY_GATE}]
    spec = {**sample(ROW)["spec"], "schedulingGates": gates}
    notes = {"kueue.x-k8s.io/podset-required-topology": "rack", POD_RANK_LABEL: "rank"}
    meta = {"name": "p", "namespace": "ns", "annotations": notes, "labels": {"rank": "3"}}
    placed = read_pod(encode({"metadata": meta, "spec": spec}))
    (pod_set,) = placed.wire_pod_sets()
    assert pod_set["topologyRequest"] == {"required": "rack", "podIndexLabel": POD_RANK}
    for kept in ((), (TOPOLOGY_GATE,)):
        (patch,) = placed.start([Injection(labels={"l": "1"}, scheduling_gates=kept)])
        assert isinstance(patch, MergePatch)
        assert patch.body["spec"]["schedulingGates"] == ([{"name": kept[0]}] if kept else None)
        assert patch.body["metadata"]["labels"] == {"l": "1", POD_RANK: "3"}
    with pytest.raises(ConflictError, match="needs the gate"):
        pod().start([Injection(scheduling_gates=(TOPOLOGY_GATE,))])


def test_what_lets_a_pod_go_keeps_the_finalizers_of_others() -> None:
    patch = pod(finalizers=[MANAGED, "other"]).release()
    assert patch == MergePatch(body={"metadata": {"finalizers": ["other"]}})
    freed = pod(finalizers=[MANAGED]).freed()
    assert isinstance(freed, MergePatch)
    assert freed.body["metadata"] == {"finalizers": None, "labels": {MANAGED: None}}


def test_only_pods_of_parents_are_queued_where_no_others_are_asked_for() -> None:
    thing = {"metadata": {"name": "p", "namespace": "ns"}, "spec": sample(ROW)["spec"]}
    assert read_pod(encode(thing), Pods.OF_PARENTS).ignored
    assert not read_pod(encode(thing)).ignored
    thing["metadata"]["annotations"] = {SUSPENDING_PARENT: "deployment"}
    assert not read_pod(encode(thing), Pods.OF_PARENTS).ignored


def test_the_gate_is_the_one_of_the_description() -> None:
    assert kind_of("pod").spec.suspend.gate == GATE
