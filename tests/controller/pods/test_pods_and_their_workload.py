"""What a pod may not have by calling itself a member of a group: another's quota, or more of it."""

from typing import Any

import pytest
from msgspec.json import encode

from queueing.controller.jobs.actions import Complain, LetPodsGo, RemoveExcess
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.pod_group import form_of_group
from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.pods.matching import exceeds
from queueing.translate.jobs.pods.view import PodJob, read_pod
from queueing.translate.wire.workloads import Workload


def pod(
    name: str, cpu: str = "1", *, total: int = 2, phase: str = "", prebuilt: str = ""
) -> PodJob:
    gates = [{"name": labels.GATE}] if not phase else []
    written = {
        labels.POD_GROUP: "crew",
        labels.POD_GROUP_TOTAL: str(total),
        labels.ROLE_HASH: "main",
    }
    if prebuilt:
        written[labels.PREBUILT_WORKLOAD] = prebuilt
    return read_pod(
        encode(
            {
                "metadata": {
                    "name": name,
                    "namespace": "ns",
                    "uid": name,
                    "resourceVersion": "1",
                    "labels": {labels.QUEUE_NAME: "lq", labels.MANAGED: "true"},
                    "annotations": written,
                    "finalizers": [labels.MANAGED],
                },
                "spec": {
                    "schedulingGates": gates,
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
                },
                "status": {"phase": phase},
            }
        )
    )


def workload(cpu: str = "1", **owner: Any) -> Workload:
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}
    owners = [{"kind": "Job", "name": "j", "uid": "j", **owner}] if owner else []
    return read(
        Workload,
        {
            "metadata": {"name": "crew", "namespace": "ns", "ownerReferences": owners},
            "spec": {"podSets": [{"name": "main", "count": 2, "template": template}]},
        },
    )


def gang(*pods: PodJob) -> Gang:
    form = form_of_group("crew", [one.metadata for one in pods], None)
    jobs = {one.metadata.uid: one for one in pods}
    return Gang(key=Key("ns/crew"), form=form, candidates=pods, jobs=jobs, workloads=())


def test_the_workload_of_a_job_is_nobodys_prebuilt_one() -> None:
    named = pod("a", prebuilt="crew").metadata
    assert form_of_group("crew", [named], workload(controller=True)).taken
    assert not form_of_group("crew", [named], workload(controller=False)).taken
    assert not form_of_group("crew", [named], workload()).taken


@pytest.mark.parametrize(("cpu", "more"), [("1", False), ("500m", False), ("64", True)])
def test_a_pod_may_not_ask_for_more_than_its_role_is_charged_for(cpu: str, *, more: bool) -> None:
    assert exceeds(pod("a", cpu), workload()) is more


def test_a_group_that_is_over_gets_no_workload_again() -> None:
    over = gang(pod("a", phase="Succeeded"), pod("b", phase="Succeeded"))
    assert isinstance(over.form.assemble(over), LetPodsGo)


def test_pods_are_only_too_many_where_all_say_how_many_there_are() -> None:
    odd = gang(pod("a", total=1), pod("b", total=2))
    assert isinstance(odd.form.assemble(odd), Complain)
    agreed = gang(pod("a", total=1), pod("b", total=1))
    assert isinstance(agreed.form.assemble(agreed), RemoveExcess)
