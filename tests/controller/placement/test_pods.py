"""Pods that placed Workloads started, as far as replies to our own writes tell of them."""

import msgspec

from queueing.controller.placement.pods import Pods
from queueing.core.names import Key
from queueing.kube.reflector import Added, Deleted, Modified
from queueing.translate.jobs.placed_pods import PlacedPod
from queueing.translate.labels import POD_WORKLOAD, TOPOLOGY_GATE

NAME = Key("team/w")


def stored(version: int, *, host: str = "") -> bytes:
    """Return a pod as the server stores it: gated, or on its way to a host."""
    metadata = {
        "name": "p",
        "namespace": "team",
        "uid": "1",
        "resourceVersion": str(version),
        "annotations": {POD_WORKLOAD: "w"},
    }
    gated = {"schedulingGates": [{"name": TOPOLOGY_GATE}]}
    spec = {"nodeSelector": {"kubernetes.io/hostname": host}} if host else gated
    return msgspec.json.encode({"metadata": metadata, "spec": spec, "status": {}})


def seen(version: int, *, host: str = "") -> PlacedPod:
    return msgspec.json.decode(stored(version, host=host), type=PlacedPod)


def test_a_pod_that_was_let_go_has_its_place_before_the_watch_shows_it() -> None:
    pods = Pods()
    pods.on_pod(Added(object=seen(1)))
    pods.absorb(stored(3, host="a"))
    pods.on_pod(Modified(object=seen(2)))
    assert pods.of(NAME) == [seen(3, host="a")]
    assert not pods.are_gated(NAME)


def test_a_reply_about_a_pod_that_is_gone_by_then_does_not_bring_it_back() -> None:
    pods = Pods()
    pods.on_pod(Added(object=seen(1)))
    pods.on_pod(Deleted(key="team/p", uid="1", object=None))
    pods.absorb(stored(3, host="a"))
    assert pods.of(NAME) == []
