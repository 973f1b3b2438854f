"""One table of what is filled in when a Job is created: by policies, and by webhooks."""

import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.loopback import control_plane
from e2e.objects import local_queue, workload_priority
from e2e.product import install
from e2e.serving import AGAIN_S, UP_S, serving
from e2e.wire import Object
from queueing.controller.policies import PolicyRules
from queueing.controller.policies import render as policies
from queueing.core.facts import Requirement, Selector
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
Right = Callable[[Default, Object], bool]

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


def by_policy(row: Default, got: Object) -> bool:
    return got in (row.want, row.policies)


def by_webhook(row: Default, got: Object) -> bool:
    return got == row.want


@pytest.fixture(scope="module")
def of_policies(place: Cluster) -> Answers:
    answers: dict[str, Object] = {}
    for without_queue in (False, True):
        rules = PolicyRules(
            namespaces=MANAGED, without_queue_name=without_queue, namespace="kueue-system"
        )
        with applied(place.api(), [wire for _, wire in policies(rules)]):
            answers |= asked(place.api(), by_policy, without_queue=without_queue)
    return answers


@pytest.fixture(scope="module")
def of_webhooks(place: Cluster) -> Answers:
    answers: dict[str, Object] = {}
    for without_queue in (False, True):
        settings = {
            "manageJobsWithoutQueueName": without_queue,
            "managedJobsNamespaceSelector": SELECTOR,
        }
        scope = Scope(namespaces=MANAGED, without_queue_name=without_queue, minor=34)
        with serving(place, settings) as served:
            rendered = [served.called_by_url(one) for one in configurations.render(scope)]
            with applied(place.api(), rendered):
                answers |= asked(place.api(), by_webhook, without_queue=without_queue)
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


def asked(api: Api, right: Right, *, without_queue: bool) -> Answers:
    """Ask about the rows of one Configuration, without and with a default class."""
    answers: dict[str, Object] = {}
    rows = [row for row in ROWS if row.around.get("manage_without_queue", False) is without_queue]
    for with_class in (False, True):
        if with_class:
            api.create(workload_priority("default", 5))
        chosen = [
            row for row in rows if row.around.get("default_priority_class", False) is with_class
        ]
        answers |= settled(api, chosen, right)
    api.delete("WorkloadPriorityClass", "default")
    api.wait_gone("WorkloadPriorityClass", "default")
    return answers


def settled(api: Api, rows: Sequence[Default], right: Right) -> Answers:
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
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    found = filled_in(api.wire.call("POST", path, query={"dryRun": "All"}, body=body))
    kept = {key: value for key, value in found["labels"].items() if not key.endswith(SERVERS_OWN)}
    return {**found, "labels": kept}


@each_row
def test_a_job_as_policies_create_it(of_policies: Answers, row: Default) -> None:
    assert by_policy(row, of_policies[row.id])


@each_row
def test_a_job_as_webhooks_create_it(of_webhooks: Answers, row: Default) -> None:
    assert by_webhook(row, of_webhooks[row.id])
