"""Which reservations of an earlier leader are withdrawn before a start."""

from typing import Any

import pytest

from queueing.controller.stores.objects import Objects
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.core.settings import Settings
from queueing.state.engine import Engine
from queueing.testing.builders import admitted, cluster_queue
from queueing.testing.worlds import world
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.workloads import Workload


def reserved(name: str, at: str, *, parent: str = "") -> Workload:
    """Return a Workload that got quota at a time; with `parent`, as a variant of that."""
    held = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": at}
    meta: dict[str, Any] = {"name": name, "namespace": "team", "uid": f"team/{name}"}
    if parent:
        owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": parent}
        meta |= {
            "annotations": {"kueue.x-k8s.io/workload-allowed-resource-flavors": "default"},
            "ownerReferences": [{**owner, "uid": f"team/{parent}", "controller": True}],
        }
    return read(Workload, {"metadata": meta, "status": {"conditions": [held]}})


@pytest.mark.parametrize("parent_runs", [True, False])
def test_a_newer_variant_counts_as_started_if_its_parent_holds_quota(*, parent_runs: bool) -> None:
    engine, objects = Engine(Settings()), Objects()
    for fact in world(cluster_queue("main", {"default": {"cpu": 1}})):
        engine.observe(fact)
    older = reserved("older", "2026-01-01T00:00:00Z")
    newer = reserved("newer", "2026-01-02T00:00:00Z", parent="parent")
    for one in (older, newer):
        objects.workloads[one.metadata.key] = one
        engine.observe(admitted(one.metadata.name, {"cpu": 1}))
    if parent_runs:
        parent = reserved("parent", "2026-01-03T00:00:00Z")
        objects.workloads[parent.metadata.key] = parent
    withdrawn = LateReservations(objects, engine).withdrawal(older)
    assert (withdrawn is not None) is parent_runs
