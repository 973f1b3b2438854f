"""Indexes of Jobs and Workloads follow their newest versions, and forget what is gone."""

from typing import Any

from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

GANG = "queueing.dev/gang"


def job(name: str = "a", uid: str = "1", **metadata: Any) -> JobView:
    meta = {"name": name, "namespace": "ns", "uid": uid, **metadata}
    return batch_job({"metadata": meta, "spec": {"template": {}}})


def workload(name: str = "w", *, finished: bool = False, queue: str = "", **meta: Any) -> Workload:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid of {name}", **meta}
    conditions = [{"type": "Finished", "status": "True"}] if finished else []
    status: dict[str, Any] = {"conditions": conditions}
    if queue:
        status["admission"] = {"clusterQueue": queue}
    return read(Workload, {"metadata": metadata, "status": status})


def owned_by(uid: str) -> list[dict[str, Any]]:
    return [{"name": "a", "uid": uid, "controller": True}]


def test_a_workload_is_in_the_groups_of_its_newest_version() -> None:
    objects = Objects()
    objects.put_workload(workload(ownerReferences=owned_by("1"), queue="cq"))
    objects.put_workload(workload(ownerReferences=owned_by("2")))
    assert objects.workloads_of("1") == []
    assert [one.metadata.name for one in objects.workloads_of("2")] == ["w"]
    assert objects.holders_by_queue["cq"] == ()


def test_nothing_is_left_of_objects_that_are_gone() -> None:
    objects = Objects()
    objects.put_job(job(labels={GANG: "g"}, ownerReferences=owned_by("above")))
    objects.put_workload(workload(labels={GANG: "g"}, ownerReferences=owned_by("1")))
    gang = job()
    objects.drop_workload(Key("ns/w"))
    assert list(objects.gangs.of(gang)) == ["ns/g"]
    objects.drop_job(Key("ns/a"))
    assert list(objects.gangs.of(gang)) == []
    assert not objects.job_keys
    assert not objects.workload_keys
    for index in (objects.jobs_by_owner, objects.jobs_by_namespace, objects.workloads_by_owner):
        assert not index.groups


def test_another_job_of_the_name_does_not_inherit_the_gang() -> None:
    objects = Objects()
    objects.put_job(job(uid="1", labels={GANG: "g"}))
    objects.put_job(job(uid="2"))
    assert not objects.gangs.claims(job(uid="1"))
    assert objects.gangs.jobs[Key("ns/g")] == ()
    assert objects.job_keys == {"2": "ns/a"}


def test_a_finished_workload_of_a_gang_does_not_let_go_of_jobs_that_another_one_holds() -> None:
    objects = Objects()
    for name in ("old", "new"):
        objects.put_workload(workload(name, labels={GANG: "g"}, ownerReferences=owned_by("1")))
    done = workload("old", labels={GANG: "g"}, ownerReferences=owned_by("1"), finished=True)
    objects.put_workload(done)
    assert objects.gangs.claims(job())
    assert list(objects.gangs.of(job())) == ["ns/g"]
