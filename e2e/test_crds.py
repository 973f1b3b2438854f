"""Both versions on a real API server: v1beta1 converted by a webhook, v1beta2 stored."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import trustme
from typing_extensions import override

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.components import HOST
from e2e.controlplane.build import Binaries
from e2e.loopback import control_plane
from e2e.product import manifests
from e2e.wire import ApiError, Object
from queueing_api.crd.generate import WebhookConversion, crds
from queueing_api.kueue.convert import convert_review

SERVED_S = 60.0


class Converter(BaseHTTPRequestHandler):
    """Answers ConversionReviews by the conversion of the product."""

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(convert_review(review)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing: the API server logs what fails."""


@contextmanager
def conversion() -> Iterator[WebhookConversion]:
    """Serve the conversion on loopback, over TLS that the API server can check."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    server = ThreadingHTTPServer((HOST, 0), Converter)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, name="conversion")
    thread.start()
    try:
        bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
        url = f"https://{HOST}:{server.server_address[1]}/convert"
        yield WebhookConversion(url=url, ca_bundle=bundle)
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


@pytest.fixture(scope="module")
def serving(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane of its own whose CRDs serve both versions."""
    with control_plane(built) as cluster, conversion() as made:
        api = cluster.api()
        for crd in crds(made):
            api.apply(crd)
        api.wait(
            "CustomResourceDefinition",
            lambda items: all(established(item) for item in items),
            timeout_s=SERVED_S,
            what="CRDs served",
        )
        yield cluster


def established(crd: Object) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or []
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def path(version: str, plural: str, name: str = "") -> str:
    place = "namespaces/default/" if plural in ("workloads", "localqueues") else ""
    return f"/apis/kueue.x-k8s.io/{version}/{place}{plural}" + (f"/{name}" if name else "")


def make(api: Api, plural: str, item: Object) -> Object:
    version = item["apiVersion"].rpartition("/")[2]
    made: Object = api.wire.call("POST", path(version, plural), body=item)
    return made


def read(api: Api, version: str, plural: str, name: str) -> Object:
    found: Object = api.wire.call("GET", path(version, plural, name))
    return found


def older(kind: str, name: str, **body: Any) -> Object:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        **body,
    }


def quota(**limits: str) -> list[Object]:
    resource = {"name": "cpu", "nominalQuota": "4", **limits}
    flavors = [{"name": "default", "resources": [resource]}]
    return [{"coveredResources": ["cpu"], "flavors": flavors}]


def workload(name: str, **spec: Any) -> Object:
    template = {"spec": {"containers": [{"name": "main", "image": "none"}]}}
    return older("Workload", name, spec={"podSets": [{"template": template}], **spec})


def test_the_plain_definitions_are_those_of_the_stored_version() -> None:
    files = [item for item in manifests("crd") if item["kind"] == "CustomResourceDefinition"]
    assert sorted(files, key=lambda item: str(item["metadata"]["name"])) == crds()


def test_a_manifest_of_the_older_version_is_stored_as_the_newer(serving: Cluster) -> None:
    api = serving.api()
    spec = {
        "cohort": "team",
        "resourceGroups": quota(borrowingLimit="2"),
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
        "admissionChecks": ["one", "two"],
    }
    made = make(api, "clusterqueues", older("ClusterQueue", "queue", spec=spec))
    assert made["spec"]["cohort"] == "team"
    assert made["spec"]["flavorFungibility"]["whenCanPreempt"] == "TryNextFlavor"

    stored = read(api, "v1beta2", "clusterqueues", "queue")
    assert stored["spec"]["cohortName"] == "team"
    assert stored["spec"]["flavorFungibility"] == {
        "whenCanBorrow": "TryNextFlavor",
        "whenCanPreempt": "TryNextFlavor",
    }
    checks = stored["spec"]["admissionChecksStrategy"]["admissionChecks"]
    assert [rule["name"] for rule in checks] == ["one", "two"]

    again = read(api, "v1beta1", "clusterqueues", "queue")
    assert again["spec"] == made["spec"]
    assert "annotations" not in again["metadata"]


def test_a_list_of_the_older_version_has_every_object_in_order(serving: Cluster) -> None:
    api = serving.api()
    for number in range(3):
        spec = {"cohort": f"c{number}"}
        make(api, "clusterqueues", older("ClusterQueue", f"listed-{number}", spec=spec))
    names = {}
    for version in ("v1beta1", "v1beta2"):
        found = api.wire.call("GET", path(version, "clusterqueues"))["items"]
        names[version] = [item["metadata"]["name"] for item in found]
        assert all(item["apiVersion"].endswith(version) for item in found)
    assert names["v1beta1"] == names["v1beta2"]
    assert "listed-2" in names["v1beta1"]


def test_a_workload_keeps_its_class_and_its_placement_in_both_versions(serving: Cluster) -> None:
    api = serving.api()
    source = "kueue.x-k8s.io/workloadpriorityclass"
    spec = {"priorityClassName": "high", "priorityClassSource": source, "priority": 7}
    make(api, "workloads", workload("placed", **spec))
    domains = [{"values": [f"node-{number}"], "count": 1} for number in range(3)]
    assignment = {"levels": ["kubernetes.io/hostname"], "domains": domains}
    entry = {"name": "main", "count": 3, "topologyAssignment": assignment}
    status = {
        "admission": {"clusterQueue": "queue", "podSetAssignments": [entry]},
        "accumulatedPastExexcutionTimeSeconds": 9,
    }
    patch = {"status": status}
    place = path("v1beta1", "workloads", "placed")
    api.wire.call(
        "PATCH", f"{place}/status", body=patch, content_type="application/merge-patch+json"
    )

    stored = read(api, "v1beta2", "workloads", "placed")
    reference = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    assert stored["spec"]["priorityClassRef"] == reference
    assert stored["status"]["accumulatedPastExecutionTimeSeconds"] == 9
    (given,) = stored["status"]["admission"]["podSetAssignments"]
    assert given["topologyAssignment"]["slices"] == [
        {
            "domainCount": 3,
            "valuesPerLevel": [{"individual": {"prefix": "node-", "roots": ["0", "1", "2"]}}],
            "podCounts": {"universal": 1},
        }
    ]
    assert read(api, "v1beta1", "workloads", "placed")["status"] == status


def test_an_edit_through_the_older_version_loses_nothing_of_the_newer(serving: Cluster) -> None:
    api = serving.api()
    newer = workload("newer", queueName="team")
    newer["apiVersion"] = "kueue.x-k8s.io/v1beta2"
    constraints = [{"topology": "rack", "size": 2}]
    request = {"podsetSliceRequiredTopologyConstraints": constraints}
    newer["spec"]["podSets"][0]["topologyRequest"] = request
    make(api, "workloads", newer)
    seen = read(api, "v1beta1", "workloads", "newer")
    assert seen["spec"]["podSets"][0]["topologyRequest"] == {}
    seen["spec"]["queueName"] = "other"
    api.wire.call("PUT", path("v1beta1", "workloads", "newer"), body=seen)
    stored = read(api, "v1beta2", "workloads", "newer")
    assert stored["spec"]["queueName"] == "other"
    assert stored["spec"]["podSets"][0]["topologyRequest"] == request
    assert "annotations" not in stored["metadata"]


def test_a_pod_may_repeat_a_variable_and_so_may_a_workload(serving: Cluster) -> None:
    repeating = workload("repeating")
    pod = repeating["spec"]["podSets"][0]["template"]["spec"]
    pod["containers"][0]["env"] = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
    make(serving.api(), "workloads", repeating)
    stored = read(serving.api(), "v1beta2", "workloads", "repeating")
    kept = stored["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["env"]
    assert kept == pod["containers"][0]["env"]


@pytest.mark.parametrize(
    ("plural", "item", "says"),
    [
        pytest.param(
            "clusterqueues",
            older("ClusterQueue", "bad", spec={"resourceGroups": quota(lendingLimit="1")}),
            "lendingLimit must be nil when cohort is empty",
            id="a limit without a cohort",
        ),
        pytest.param(
            "clusterqueues",
            older(
                "ClusterQueue",
                "bad",
                spec={
                    "admissionChecks": ["a"],
                    "admissionChecksStrategy": {"admissionChecks": [{"name": "b"}]},
                },
            ),
            "either admissionChecks or admissionChecksStrategy can be set, but not both",
            id="checks in two ways",
        ),
        pytest.param(
            "workloads",
            workload("bad", priorityClassName="high"),
            "priority should not be nil when priorityClassName is set",
            id="a class without a priority",
        ),
    ],
)
def test_the_older_version_has_the_rules_of_its_own_fields(
    serving: Cluster, plural: str, item: Object, says: str
) -> None:
    with pytest.raises(ApiError) as refused:
        make(serving.api(), plural, item)
    assert refused.value.status == 422
    assert says in refused.value.message


def test_kubectl_applies_and_shows_the_older_version(serving: Cluster) -> None:
    manifest = json.dumps(older("ClusterQueue", "applied", spec={"cohort": "team"}))
    for _ in range(2):
        said = serving.kubectl("apply", "--server-side", "-f", "-", stdin=manifest)
        assert said.returncode == 0, said.stderr
    shown = serving.kubectl("get", "clusterqueues.v1beta1.kueue.x-k8s.io", "applied").stdout
    assert shown.splitlines()[1].split()[:2] == ["applied", "team"]
    explained = serving.kubectl(
        "explain", "clusterqueue.spec.cohort", "--api-version=kueue.x-k8s.io/v1beta1"
    )
    assert "The Cohort object need not exist." in explained.stdout, explained.stderr
