"""One table of what is filled in when a Job or a pod is created: by policies, and by webhooks."""

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.kinds import KINDS
from e2e.loopback import control_plane
from e2e.objects import local_queue, workload_priority
from e2e.product import install
from e2e.serving import AGAIN_S, UP_S, serving
from e2e.wire import Object
from queueing.controller.admission_policies.rendering import DEFAULT_PRIORITY, PolicyRules
from queueing.controller.admission_policies.rendering import render as policies
from queueing.core.selectors import Requirement, Selector
from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks import configurations
from queueing.webhooks.scope import NAMESPACE_NAME, Scope
from tests.webhooks.table import Default, defaults, filled_in

ROWS = defaults()
UNMANAGED, WITH_QUEUE, PLAIN = "unmanaged", "with-a-default-queue", "plain"
OUT = ("kube-system", "kueue-system", UNMANAGED)
MANAGED = Selector((Requirement(key=NAMESPACE_NAME, operator="NotIn", values=OUT),))
SELECTOR = {"matchExpressions": [{"key": NAMESPACE_NAME, "operator": "NotIn", "values": list(OUT)}]}
# A Job without labels gets those of its selector.
SERVERS_OWN = ("controller-uid", "job-name")
Answers = Mapping[str, Object]

each_row = pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])


@pytest.fixture(scope="module")
def place(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane with a namespace of each sort and nobody who fills in."""
    with control_plane(built) as cluster:
        install(cluster)
        api = cluster.api()
        for name in (UNMANAGED, WITH_QUEUE, PLAIN):
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        api.create(local_queue(WITH_QUEUE, "default", "team"))
        yield cluster


def right(row: Default, got: Object) -> bool:
    return got == row.want


@pytest.fixture(scope="module")
def of_policies(place: Cluster) -> Answers:
    answers: dict[str, Object] = {}
    for without_queue in (False, True):
        rules = PolicyRules(
            namespaces=MANAGED,
            without_queue_name=without_queue,
            namespace="kueue-system",
            pods=Pods.ALL,
        )
        with applied(place.api(), [wire for _, wire in policies(rules)]):
            answers |= asked(place.api(), without_queue=without_queue)
    return answers


@pytest.fixture(scope="module")
def of_webhooks(place: Cluster) -> Answers:
    answers: dict[str, Object] = {}
    for without_queue in (False, True):
        settings = {
            "manageJobsWithoutQueueName": without_queue,
            "managedJobsNamespaceSelector": SELECTOR,
        }
        scope = Scope(namespaces=MANAGED, without_queue_name=without_queue, minor=34, pods=Pods.ALL)
        with serving(place, settings) as served:
            rendered = [served.called_by_url(one) for one in configurations.render(scope)]
            with applied(place.api(), rendered):
                answers |= asked(place.api(), without_queue=without_queue)
    return answers


@contextmanager
def applied(api: Api, items: Sequence[Object]) -> Iterator[None]:
    """Apply for a while."""
    for item in items:
        api.apply(item)
    try:
        yield
    finally:
        for item in items:
            api.delete(f"{item['apiVersion']}/{item['kind']}", item["metadata"]["name"])


def asked(api: Api, *, without_queue: bool) -> Answers:
    """Ask about the rows of one Configuration, without and with a default class."""
    answers: dict[str, Object] = {}
    rows = [row for row in ROWS if row.around.get("manage_without_queue", False) is without_queue]
    for with_class in (False, True):
        if with_class:
            api.create(workload_priority("default", 5))
        chosen = [
            row for row in rows if row.around.get("default_priority_class", False) is with_class
        ]
        answers |= settled(api, chosen)
    api.delete("WorkloadPriorityClass", "default")
    api.wait_gone("WorkloadPriorityClass", "default")
    return answers


def settled(api: Api, rows: Sequence[Default]) -> Answers:
    """Ask until all is as wanted at once, or time is up: what is in force is not announced."""
    deadline = time.monotonic() + UP_S
    while True:
        answers = {row.id: created(api, row) for row in rows}
        if all(right(row, answers[row.id]) for row in rows) or time.monotonic() > deadline:
            return answers
        time.sleep(AGAIN_S)


def created(api: Api, row: Default) -> Object:
    """Try to create the Job of a row; return what was filled in."""
    namespace = WITH_QUEUE if row.around.get("default_local_queue") else PLAIN
    if not row.around.get("namespace_managed", True):
        namespace = UNMANAGED
    name = f"job-{secrets.token_hex(4)}"
    body = {**row.job, "metadata": {**row.job["metadata"], "name": name}}
    path = KINDS[body["kind"]].path(namespace)
    found = filled_in(api.wire.call("POST", path, query={"dryRun": "All"}, body=body))
    kept = {key: value for key, value in found["labels"].items() if not key.endswith(SERVERS_OWN)}
    return {**found, "labels": kept}


@each_row
def test_a_job_as_policies_create_it(of_policies: Answers, row: Default) -> None:
    assert right(row, of_policies[row.id])


@each_row
def test_a_job_as_webhooks_create_it(of_webhooks: Answers, row: Default) -> None:
    assert right(row, of_webhooks[row.id])


@pytest.mark.parametrize("order", ["aaa", "zzz"])
def test_a_default_class_comes_with_a_default_queue_whichever_policy_runs_first(
    place: Cluster, order: str
) -> None:
    rules = PolicyRules(namespaces=MANAGED, without_queue_name=False, namespace="kueue-system")
    renamed = [renamed_to(f"{order}-", wire) for _, wire in policies(rules)]
    wanted = [row for row in ROWS if row.id == "a default class comes with a default queue"]
    api = place.api()
    api.create(workload_priority("default", 5))
    with applied(api, renamed):
        answers = settled(api, wanted)
    api.delete("WorkloadPriorityClass", "default")
    api.wait_gone("WorkloadPriorityClass", "default")
    assert [answers[row.id] for row in wanted] == [row.want for row in wanted]


def renamed_to(start: str, wire: Object) -> Object:
    """Give the policy of default classes, and its binding, a name that sorts elsewhere."""
    name = wire["metadata"]["name"]
    if name != DEFAULT_PRIORITY:
        return wire
    spec = dict(wire["spec"])
    if "policyName" in spec:
        spec["policyName"] = start + name
    return {**wire, "metadata": {"name": start + name}, "spec": spec}
