"""The table of what is refused and why, asked of the cluster of one process, as kubectl would.

Its server evaluates no rules of definitions; `e2e/test_validation.py` asks a real one.
"""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from queueing.apiserver.server import EmbeddedServer
from queueing.cli.local.cluster import ServerLocation, local_cluster
from queueing.cli.local.webhooks import local_webhooks
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import KubeError
from queueing.kube.request import Call
from queueing_api.config.queueing import Integrations
from queueing_api.config.v1beta2 import Configuration
from queueing_api.crd.rules import RULES
from tests.webhooks.table import REASONS, Row, Wire, merge_patch, rows

BOUND_S = 120.0
TRIED = Call(dry_run=True)
BESIDE_A_DEFAULT_QUEUE = "beside-a-default-queue"
PODS_TOO = Configuration(integrations=Integrations(frameworks=["batch/job", "pod"]))


class Answer(NamedTuple):
    """What the server says to a write."""

    message: str
    code: int
    reason: str


ACCEPTED = Answer("", 0, "")


def is_asked(row: Row) -> bool:
    """Leave out Workloads, which only the controller writes here, and a gate that is off.

    So is the mark of pods: the webhook that gates them sets it right before it is judged.
    """
    marked = (row.kind, row.name) == ("Pod", "marked with another word")
    return row.kind != "Workload" and not row.around.get("reject_unknown_flavors") and not marked


ROWS = [row for row in rows() if is_asked(row)]


def placed(item: Wire, name: str, namespace: str) -> Wire:
    where = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {**item, "metadata": {**item["metadata"], **where}}


async def ask(client: Client, server: EmbeddedServer, row: Row, name: str) -> Answer:
    """Return what is said to a row; nothing if it is accepted. What was is there unasked."""
    resource = resources.RESOURCES[row.kind]
    around = BESIDE_A_DEFAULT_QUEUE if row.around.get("default_queue") else "default"
    namespace = around if resource.namespaced else ""
    new = placed(row.new, name, namespace)
    try:
        if row.old is None:
            await client.create(resource.within(namespace), new, TRIED)
        else:
            server.load([placed(row.old, name, namespace)])
            await client.patch_merge(
                resource.at(name, namespace), merge_patch(row.old, row.new), TRIED
            )
    except KubeError as error:
        return Answer(error.message, error.status, error.reason)
    return ACCEPTED


async def ask_all() -> Mapping[str, Answer]:
    """Ask about every row, each under a name of its own."""
    async with (
        asyncio.timeout(BOUND_S),
        local_cluster(ServerLocation(), ()) as server,
        Client(Cluster.plain(server.url), user_agent="test") as client,
    ):
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": BESIDE_A_DEFAULT_QUEUE},
        }
        queue = {
            "apiVersion": resources.LOCAL_QUEUES.api_version,
            "kind": "LocalQueue",
            "metadata": {"name": "default", "namespace": BESIDE_A_DEFAULT_QUEUE},
            "spec": {"clusterQueue": "team"},
        }
        server.load([namespace, queue])
        async with local_webhooks(server, PODS_TOO):
            return {
                row.id: await ask(client, server, row, f"row-{number}")
                for number, row in enumerate(ROWS)
            }


@pytest.fixture(scope="module")
def told() -> Mapping[str, Answer]:
    return asyncio.run(ask_all())


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])
def test_what_is_refused_says_why(told: Mapping[str, Answer], row: Row) -> None:
    if row.says:
        assert (row.natively or row.says) in told[row.id].message
        assert (told[row.id].code, told[row.id].reason) == (row.code, REASONS[row.code])
    else:
        assert told[row.id] == ACCEPTED


def test_rules_of_definitions_are_among_those_that_are_asked() -> None:
    kinds = {row.kind for row in ROWS if row.says}
    ours = set(RULES["v1alpha1"])
    assert {*ours, "Topology", "LocalQueue"} <= kinds
