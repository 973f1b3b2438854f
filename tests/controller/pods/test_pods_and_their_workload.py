"""What a pod may not have by calling itself a member of a group: another's quota, or more of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec.json import encode

from queueing.controller.jobs.actions import Complain, LetPodsGo, RemoveExcess, Start
from queueing.controller.jobs.gangs import Gang
from queueing.controller.jobs.ladder import next_action
from queueing.controller.jobs.prebuilt_group import form_of_group
from queueing.core.names import Key
from queueing.translate import labels
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.pods.matching import exceeds
from queueing.translate.jobs.pods.view import PodJob, read_pod
from queueing.translate.jobs.pods.workload import problem_of
from queueing.translate.requests import NOTHING_AROUND, Bounds, LimitSummary, Surroundings
from queueing.translate.wire.meta import OwnerReference
from queueing.translate.wire.workloads import Workload, WorkloadStatus


def pod(
    name: str,
    cpu: str = "1",
    *,
    total: int = 2,
    phase: str = "",
    prebuilt: str = "",
    role: str = "main",
    **notes: str,
) -> PodJob:
    gates = [{"name": labels.GATE}] if not phase else []
    written = {
        labels.POD_GROUP: "crew",
        labels.POD_GROUP_TOTAL: str(total),
        labels.ROLE_HASH: role,
        **notes,
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


def workload(cpu: str = "1", resources: Any = None, **owner: Any) -> Workload:
    asks = {"requests": {"cpu": cpu}} if resources is None else resources
    template = {"spec": {"containers": [{"name": "c", "resources": asks}]}}
    owners = [{"kind": "Job", "name": "j", "uid": "j", **owner}] if owner else []
    return read(
        Workload,
        {
            "metadata": {"name": "crew", "namespace": "ns", "ownerReferences": owners},
            "spec": {"podSets": [{"name": "main", "count": 2, "template": template}]},
        },
    )


def admitted(one: Workload) -> Workload:
    held = [{"name": "main", "count": 2}]
    told = ("QuotaReserved", "Admitted")
    status = {
        "admission": {"clusterQueue": "cq", "podSetAssignments": held},
        "conditions": [{"type": kind, "status": "True"} for kind in (*told, "PodsReady")],
    }
    return msgspec.structs.replace(one, status=msgspec.convert(status, WorkloadStatus))


def owned_by(one: Workload, pods: Sequence[PodJob]) -> Workload:
    more = [
        OwnerReference(kind="Pod", name=two.metadata.name, uid=two.metadata.uid) for two in pods
    ]
    owners = [*one.metadata.owner_references, *more]
    meta = msgspec.structs.replace(one.metadata, owner_references=owners)
    return msgspec.structs.replace(one, metadata=meta)


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
    assert exceeds(pod("a", cpu), workload(), NOTHING_AROUND) is more


def test_what_a_limit_range_gives_a_pod_that_asks_for_nothing_is_charged_for_its_role() -> None:
    limits = LimitSummary(container=Bounds(default_request={"cpu": 2000}))
    charged = workload(resources={})
    assert not exceeds(pod("a", "2"), charged, Surroundings(limits=limits))
    assert exceeds(pod("a", "3"), charged, Surroundings(limits=limits))


def serving(name: str, cpu: str = "1", **more: Any) -> PodJob:
    """Return a pod that says to be of what serves."""
    notes = {labels.POD_GROUP_SERVING: "true"}
    return pod(name, cpu, prebuilt="crew", **{**notes, **more})


RIGHT = [serving("b"), serving("c")]


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        pytest.param(serving("a", "64"), "asks for more than", id="a larger one"),
        pytest.param(serving("a", role="other"), "no pod set 'other'", id="one of another role"),
        pytest.param(serving("z"), "is for fewer pods", id="one too many"),
    ],
)
def test_a_pod_that_what_serves_has_no_place_for_waits_and_the_others_run(
    odd: PodJob, told: str
) -> None:
    held = admitted(workload(kind="StatefulSet", controller=False))
    pods = sorted((odd, *RIGHT), key=lambda one: one.metadata.name)
    form = form_of_group("crew", [one.metadata for one in pods], held)
    jobs = {one.metadata.uid: one for one in pods}
    all_owned = owned_by(held, pods)
    gang = Gang(key=Key("ns/crew"), form=form, candidates=pods, jobs=jobs, workloads=(all_owned,))
    action = next_action(gang)
    assert isinstance(action, Start)
    assert [one.job for one in action.parts] == RIGHT
    running = {
        one.metadata.uid: replace(one, suspended=False, gates=(), ready=True) for one in RIGHT
    }
    at_rest = next_action(replace(gang, jobs={**jobs, **running}))
    assert isinstance(at_rest, Complain)
    assert told in at_rest.message
    loose = replace(odd, suspended=False, gates=(), ready=True)
    away = next_action(replace(gang, jobs={**jobs, **running, odd.metadata.uid: loose}))
    assert isinstance(away, RemoveExcess)
    assert away.pods == [loose]


def test_a_group_that_is_over_gets_no_workload_again() -> None:
    over = gang(pod("a", phase="Succeeded"), pod("b", phase="Succeeded"))
    assert isinstance(over.form.assemble(over), LetPodsGo)


def test_pods_are_only_too_many_where_all_say_how_many_there_are() -> None:
    odd = gang(pod("a", total=1), pod("b", total=2))
    assert isinstance(odd.form.assemble(odd), Complain)
    agreed = gang(pod("a", total=1), pod("b", total=1))
    assert isinstance(agreed.form.assemble(agreed), RemoveExcess)


@pytest.mark.parametrize(
    ("rank", "told"),
    [("0", ""), ("1", ""), ("2", "value should be less than 2"), ("x", "unsigned integer")],
)
def test_the_first_pod_has_a_number_below_the_count_of_its_group(rank: str, told: str) -> None:
    def numbered(name: str, number: str) -> PodJob:
        made = pod(name)
        mine = {**made.metadata.labels, labels.POD_RANK: number}
        return replace(made, metadata=msgspec.structs.replace(made.metadata, labels=mine))

    problem = problem_of([numbered("a", rank), numbered("b", "0")])
    assert told in problem
    assert bool(told) is bool(problem)
    assert not problem_of([numbered("a", "0"), numbered("b", rank)])
