"""Waiting on the API: it survives what a busy or restarted server does, and says what it saw."""

import threading

import pytest

from e2e.api import Api, WaitTimeoutError
from e2e.cluster import Cluster
from e2e.identities import ADMIN
from e2e.proxy import Cable
from e2e.wire import Access, ApiError
from e2e.world import World


def config_map(space: World, name: str, **data: str) -> dict:
    place = {"name": name, "namespace": space.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place, "data": data}


def test_a_wait_survives_a_cut_connection(cluster: Cluster, space: World) -> None:
    space.make(config_map(space, "one", step="0"))
    port = int(cluster.api().access.server.rpartition(":")[2])
    with Cable(port) as cable:
        api = Api(Access.from_kubeconfig(cluster.through(cable.port, ADMIN)))

        def trouble() -> None:
            cable.cut()
            space.api.patch("ConfigMap", "one", {"data": {"step": "1"}}, namespace=space.namespace)
            cable.plug()

        timer = threading.Timer(1, trouble)
        timer.start()
        seen = api.wait_one(
            "ConfigMap",
            "one",
            lambda item: item["data"]["step"] == "1",
            namespace=space.namespace,
            timeout_s=30,
        )
        timer.join()
        api.close()
    assert seen["data"] == {"step": "1"}


def test_a_wait_in_vain_says_what_it_saw(space: World) -> None:
    space.make(config_map(space, "one"))
    with pytest.raises(WaitTimeoutError) as vain:
        space.api.wait(
            "ConfigMap", lambda _: False, namespace=space.namespace, timeout_s=1, what="the moon"
        )
    assert "not in 1 s: the moon" in str(vain.value)
    assert f"{space.namespace}/one" in str(vain.value)


def test_a_refusal_ends_a_wait_at_once(cluster: Cluster, space: World) -> None:
    with pytest.raises(ApiError, match="forbidden"):
        cluster.api("team").wait("Secret", lambda _: False, namespace=space.namespace)


def test_apply_merges_and_patches_change_one_field(space: World) -> None:
    space.api.apply(config_map(space, "one", a="1", b="2"), manager="first")
    space.api.apply(config_map(space, "one", c="3"), manager="second")
    operation = {"op": "replace", "path": "/data/a", "value": "4"}
    space.api.patch("ConfigMap", "one", [operation], namespace=space.namespace)
    space.api.patch("ConfigMap", "one", {"data": {"b": None}}, namespace=space.namespace)
    assert space.api.get("ConfigMap", "one", space.namespace)["data"] == {"a": "4", "c": "3"}
