"""One table, on a real API server: by definitions and policies there, by webhooks elsewhere."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.loopback import control_plane
from e2e.objects import local_queue
from e2e.product import install
from e2e.serving import serving
from e2e.verdicts import WITH_DEFAULT_QUEUE, Asker, Verdict
from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks import configurations
from queueing.webhooks.policies import render as policies
from queueing.webhooks.scope import Scope
from tests.webhooks.table import REASONS, Row, rows

ROWS = rows()
SCOPE = Scope(reject_unknown_flavors=True, pods=Pods.ALL)
GATES = {"featureGates": {"RejectUpdatesToCQWithInvalidOnFlavors": True}}
# As for a server without mutating policies, which asks about Jobs as well; what fills in stays out.
VALIDATING = (
    *configurations.render(replace(SCOPE, minor=34))[1:],
    configurations.instead_of_definitions(SCOPE),
)

each_row = pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in ROWS])


def assert_as_the_table_says(row: Row, verdict: Verdict) -> None:
    if not row.says:
        assert verdict == Verdict()
        return
    assert (verdict.code, verdict.reason) == (row.code, REASONS[row.code]), verdict
    if row.natively:
        assert verdict.by == "schema"
        assert row.natively in verdict.message
    else:
        assert row.says in verdict.message


@pytest.fixture(scope="module")
def of_the_server(built: Binaries) -> Mapping[str, Verdict]:
    with control_plane(built) as cluster:
        prepare(cluster)
        for policy in policies.render(SCOPE):
            cluster.api().apply(policy)
        return Asker(cluster.api()).all(ROWS)


@pytest.fixture(scope="module")
def of_the_webhooks(built: Binaries) -> Mapping[str, Verdict]:
    with control_plane(built) as cluster:
        prepare(cluster)
        api = cluster.api()
        for item in api.items("CustomResourceDefinition"):
            bare = {"spec": without_rules(item["spec"])}
            api.patch("CustomResourceDefinition", item["metadata"]["name"], bare)
        with serving(cluster, GATES) as served:
            for configuration in VALIDATING:
                api.apply(served.called_by_url(configuration))
            return Asker(api).all(ROWS)


class TestByTheServerItself:
    """What definitions and policies say, with nobody else to ask."""

    @each_row
    def test_a_row(self, of_the_server: Mapping[str, Verdict], row: Row) -> None:
        assert_as_the_table_says(row, of_the_server[row.id])

    def test_both_ways_are_tried(self, of_the_server: Mapping[str, Verdict]) -> None:
        counted = Counter(one.by for one in of_the_server.values())
        assert counted.keys() == {"", "schema", "policy"}
        assert counted["policy"] >= 30
        assert counted["schema"] >= 20


class TestByWebhooks:
    """What the serving process says, asked by a server whose definitions have no rules."""

    @each_row
    def test_a_row(self, of_the_webhooks: Mapping[str, Verdict], row: Row) -> None:
        assert_as_the_table_says(row, of_the_webhooks[row.id])
        if row.says and not row.natively:
            assert of_the_webhooks[row.id].by == "webhook"


def prepare(cluster: Cluster) -> None:
    """Install, and make the one namespace that has a default queue."""
    install(cluster)
    api = cluster.api()
    metadata = {"name": WITH_DEFAULT_QUEUE}
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    api.create(local_queue(WITH_DEFAULT_QUEUE, "default", "team"))


def without_rules(schema: Any) -> Any:
    """Return a schema without its CEL rules."""
    match schema:
        case dict():
            kept = {key: one for key, one in schema.items() if key != "x-kubernetes-validations"}
            return {key: without_rules(one) for key, one in kept.items()}
        case list():
            return [without_rules(one) for one in schema]
        case _:
            return schema
