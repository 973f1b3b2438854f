"""What Kueue's plugin, dashboard and own tests ask of a cluster, request by request as they do.

Their requests are known from the outside only: paths, verbs, headers, bodies as Go clients spell
them, and the names that they look for.
"""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
import yaml

from e2e.api import MERGE, holds
from e2e.components import HOST
from e2e.controlplane.build import Binaries
from e2e.identities import ADMIN, CONTROLLER_NAMESPACE
from e2e.installed import API_SERVICE, Installation, installation
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import Pods, flavor, job, local_queue
from e2e.serving import until
from e2e.wire import ApiError, Object, tls_of

KUEUE = "/apis/kueue.x-k8s.io"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
VERSIONS = ("v1beta1", "v1beta2")
WAITING = 5
LONG_S = 3600.0
ROLES = (
    "manager-role",
    "metrics-reader",
    "batch-admin-role",
    "batch-user-role",
    "pending-workloads-cq-viewer-role",
    "pending-workloads-lq-viewer-role",
    *(
        f"{kind}-{role}-role"
        for kind in ("clusterqueue", "cohort", "localqueue", "resourceflavor", "workload", "job")
        for role in ("editor", "viewer")
    ),
)


@pytest.fixture(scope="module")
def place(built: Binaries) -> Iterator[Installation]:
    """Lend an installation with a queue where one Job runs and some wait."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 2, labels=POOL)
        with installation(cluster) as made:
            made.api.create(flavor("any"))
            asked(made, "POST", f"{KUEUE}/v1beta1/clusterqueues", typed_cluster_queue("team"))
            made.api.create(local_queue("default", "door", "team"))
            made.api.create(job("default", "runs", queue="door", pods=Pods(cpu="3", run_s=LONG_S)))
            made.api.wait("Job", lambda found: any(runs(one) for one in found), namespace="default")
            for number in range(WAITING):
                made.api.create(
                    job(
                        "default", f"waits-{number}", queue="door", pods=Pods(cpu="4", run_s=LONG_S)
                    )
                )
            for version in VERSIONS:
                name = f"{version}.visibility.kueue.x-k8s.io"
                made.api.wait_one(API_SERVICE, name, lambda one: holds(one, "Available"))
            until(lambda: len(pending(made, "clusterqueues/team")) == WAITING, "all wait")
            yield made


def runs(item: Object) -> bool:
    return not item["spec"].get("suspend")


def asked(
    place: Installation,
    verb: str,
    path: str,
    body: Any = None,
    *,
    accept: str = "application/json, */*",
    content_type: str = "application/json",
    identity: str = ADMIN,
) -> Any:
    """Send a request as client-go would, with its headers."""
    access = place.cluster.accesses[identity]
    headers = {
        "Accept": accept,
        "Content-Type": content_type,
        "User-Agent": "kueuectl/v0.20.0 (linux/amd64) kubernetes/$Format",
        "Authorization": f"Bearer {access.token}",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(access.server + path, data, headers, method=verb)
    try:
        with urllib.request.urlopen(request, timeout=30, context=tls_of(access)) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            raise ApiError(error.code, error.read().decode()) from None


def pending(place: Installation, path: str, version: str = "v1beta2", query: str = "") -> Any:
    return asked(place, "GET", f"{VISIBILITY}/{version}/{path}/pendingworkloads{query}")["items"]


def typed_cluster_queue(name: str) -> Object:
    """Return a ClusterQueue as the plugin's typed client of v1beta1 spells it: with all zeros."""
    quota = {"name": "cpu", "nominalQuota": "4"}
    return {
        "kind": "ClusterQueue",
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "metadata": {"name": name, "creationTimestamp": None},
        "spec": {
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": "any", "resources": [quota]}],
                }
            ],
            "cohort": "all",
            "queueingStrategy": "BestEffortFIFO",
            "namespaceSelector": {},
            "preemption": {
                "reclaimWithinCohort": "Any",
                "withinClusterQueue": "LowerPriority",
            },
        },
        "status": {
            "flavorsReservation": None,
            "flavorsUsage": None,
            "pendingWorkloads": 0,
            "reservingWorkloads": 0,
            "admittedWorkloads": 0,
        },
    }


class TestDiscovery:
    """How clients find out what is there."""

    def test_both_groups_are_found_at_once(self, place: Installation) -> None:
        found = asked(place, "GET", "/apis", accept=DISCOVERY)
        assert found["kind"] == "APIGroupDiscoveryList"
        groups = {one["metadata"]["name"]: one for one in found["items"]}
        for name in ("kueue.x-k8s.io", "visibility.kueue.x-k8s.io"):
            served = {one["version"] for one in groups[name]["versions"]}
            assert served == set(VERSIONS)

    @pytest.mark.parametrize("version", VERSIONS)
    def test_the_resources_of_a_version_are_listed(self, place: Installation, version: str) -> None:
        found = asked(place, "GET", f"{VISIBILITY}/{version}")
        names = {one["name"] for one in found["resources"]}
        assert {"clusterqueues/pendingworkloads", "localqueues/pendingworkloads"} <= names
        kinds = asked(place, "GET", f"{KUEUE}/{version}")["resources"]
        short = {one["name"]: one.get("shortNames") for one in kinds if "/" not in one["name"]}
        assert short["clusterqueues"] == ["cq"]
        assert short["localqueues"] == ["queue", "queues", "lq"]
        assert short["workloads"] == ["kwl", "kueueworkload", "kueueworkloads"]
        assert short["resourceflavors"] == ["flavor", "flavors", "rf"]


class TestVisibility:
    """Who waits, as the plugin and the dashboard ask."""

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize(
        ("query", "names"),
        [
            pytest.param("", [0, 1, 2, 3, 4], id="all"),
            pytest.param("?limit=2", [0, 1], id="the first"),
            pytest.param("?limit=2&offset=3", [3, 4], id="a part"),
            pytest.param("?limit=1000&offset=9", [], id="beyond the end"),
            pytest.param("?timeout=30s", [0, 1, 2, 3, 4], id="what every client adds"),
        ],
    )
    @pytest.mark.parametrize("path", ["clusterqueues/team", "namespaces/default/localqueues/door"])
    def test_a_part_of_the_queue(
        self, place: Installation, path: str, query: str, names: list[int], version: str
    ) -> None:
        everybody = pending(place, "clusterqueues/team")
        items = pending(place, path, version, query)
        assert items == [everybody[number] for number in names]
        assert [one["positionInClusterQueue"] for one in items] == names
        assert [one["positionInLocalQueue"] for one in items] == names
        assert all(one["localQueueName"] == "door" for one in items)
        owners = [one["metadata"]["ownerReferences"][0] for one in items]
        assert all(one["name"].startswith("waits-") for one in owners)
        assert all(one["kind"] == "Job" and one["apiVersion"] == "batch/v1" for one in owners)

    @pytest.mark.parametrize(
        ("path", "says"),
        [
            pytest.param("clusterqueues/none", '"none" not found', id="cluster queue"),
            pytest.param("namespaces/default/localqueues/none", '"none" not found', id="local"),
        ],
    )
    def test_a_queue_that_is_not_there(self, place: Installation, path: str, says: str) -> None:
        with pytest.raises(ApiError, match=says) as refused:
            pending(place, path)
        assert refused.value.status == 404

    @pytest.mark.parametrize(
        ("role", "seen", "unseen"),
        [
            pytest.param("kueue-batch-admin-role", ["clusterqueues/team"], [], id="an admin"),
            pytest.param(
                "kueue-batch-user-role",
                ["namespaces/default/localqueues/door"],
                ["clusterqueues/team"],
                id="a user",
            ),
        ],
    )
    def test_roles_decide(
        self, place: Installation, role: str, seen: list[str], unseen: list[str]
    ) -> None:
        subject = {"kind": "ServiceAccount", "name": role, "namespace": "default"}
        everywhere = role == "kueue-batch-admin-role"
        kind = "ClusterRoleBinding" if everywhere else "RoleBinding"
        metadata = {"name": role} if everywhere else {"name": role, "namespace": "default"}
        group = "rbac.authorization.k8s.io"
        binding = {
            "apiVersion": f"{group}/v1",
            "kind": kind,
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [subject],
        }
        place.api.apply(
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": role, "namespace": "default"},
            }
        )
        place.api.apply(binding)
        who = f"--as=system:serviceaccount:default:{role}"
        paths = {one: f"{VISIBILITY}/v1beta2/{one}/pendingworkloads" for one in [*seen, *unseen]}
        for one in seen:
            until(partial(sees, place, who, paths[one]), f"{role} sees {one}")
        for one in unseen:
            code, said = see(place, who, paths[one])
            assert code != 0
            assert "forbidden" in said.lower()


def see(place: Installation, who: str, path: str) -> tuple[int, str]:
    done = place.cluster.kubectl("get", "--raw", path, who)
    return done.returncode, done.stderr


def sees(place: Installation, who: str, path: str) -> bool:
    return see(place, who, path)[0] == 0


class TestPlugin:
    """The verbs of the plugin: list, create, stop, resume."""

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize(
        ("plural", "columns"),
        [
            pytest.param("clusterqueues", ["Name", "Cohort", "Pending Workloads"], id="cq"),
            pytest.param(
                "namespaces/default/localqueues",
                ["Name", "ClusterQueue", "Pending Workloads", "Admitted Workloads"],
            ),
            pytest.param(
                "namespaces/default/workloads",
                ["Name", "Queue", "Reserved in", "Admitted", "Finished", "Age"],
            ),
            pytest.param("resourceflavors", ["Name", "Age"]),
        ],
    )
    def test_a_table(
        self, place: Installation, version: str, plural: str, columns: list[str]
    ) -> None:
        path = f"{KUEUE}/{version}/{plural}?limit=500"
        table = asked(place, "GET", path, accept=TABLE)
        assert table["kind"] == "Table"
        shown = [one["name"] for one in table["columnDefinitions"] if not one["priority"]]
        assert shown == columns
        assert table["rows"]

    def test_create_as_a_typed_client_spells_it(self, place: Installation) -> None:
        path = f"{KUEUE}/v1beta1/clusterqueues?dryRun=All&fieldManager=kueuectl-create"
        made = asked(place, "POST", path, typed_cluster_queue("dry"))
        assert made["spec"]["cohort"] == "all"
        assert made["spec"]["flavorFungibility"] == {
            "whenCanBorrow": "Borrow",
            "whenCanPreempt": "TryNextFlavor",
        }
        body = {
            "kind": "LocalQueue",
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "metadata": {"name": "dry", "namespace": "default", "creationTimestamp": None},
            "spec": {"clusterQueue": "team"},
            "status": {"pendingWorkloads": 0, "reservingWorkloads": 0, "admittedWorkloads": 0},
        }
        path = f"{KUEUE}/v1beta1/namespaces/default/localqueues?dryRun=All"
        assert asked(place, "POST", path, body)["spec"]["stopPolicy"] == "None"

    @pytest.mark.parametrize("version", VERSIONS)
    def test_stop_and_resume_a_workload(self, place: Installation, version: str) -> None:
        (name,) = [
            one["metadata"]["name"]
            for one in place.api.items("Workload", "default")
            if one["metadata"]["ownerReferences"][0]["name"] == "waits-4"
        ]
        path = f"{KUEUE}/{version}/namespaces/default/workloads/{name}"
        merged(place, path, {"spec": {"active": False}})
        until(lambda: len(pending(place, "clusterqueues/team")) == WAITING - 1, "it is out")
        merged(place, path, {"spec": {"active": True}})
        until(lambda: len(pending(place, "clusterqueues/team")) == WAITING, "it is back")

    @pytest.mark.parametrize(
        ("path", "kind", "name"),
        [
            pytest.param("clusterqueues/team", "ClusterQueue", "team", id="cluster queue"),
            pytest.param(
                "namespaces/default/localqueues/door", "LocalQueue", "door", id="local queue"
            ),
        ],
    )
    def test_stop_and_resume_a_queue(
        self, place: Installation, path: str, kind: str, name: str
    ) -> None:
        namespace = None if kind == "ClusterQueue" else "default"
        url = f"{KUEUE}/v1beta1/{path}"
        assert merged(place, url, {"spec": {"stopPolicy": "Hold"}})["spec"]["stopPolicy"] == "Hold"
        place.api.wait_one(kind, name, lambda one: not holds(one, "Active"), namespace=namespace)
        merged(place, url, {"spec": {"stopPolicy": "None"}})
        place.api.wait_one(kind, name, lambda one: holds(one, "Active"), namespace=namespace)


def merged(place: Installation, path: str, body: Mapping[str, Any]) -> Object:
    return dict(asked(place, "PATCH", path, body, content_type=MERGE))


class TestDashboard:
    """What a dashboard lists, watches and shows beside."""

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize(
        "plural", ["workloads", "localqueues", "clusterqueues", "cohorts", "resourceflavors"]
    )
    def test_a_list_and_a_watch(self, place: Installation, plural: str, version: str) -> None:
        path = f"{KUEUE}/{version}/{plural}"
        found = asked(place, "GET", path)
        assert found["apiVersion"] == f"kueue.x-k8s.io/{version}"
        query = {"watch": "true", "resourceVersion": "0", "timeoutSeconds": "5"}
        events = place.api.wire.lines(path, query, 10.0)
        seen = [event["object"]["apiVersion"] for event in events]
        assert len(seen) >= len(found["items"])
        assert set(seen) <= {f"kueue.x-k8s.io/{version}"}

    def test_events_are_found_by_their_workload(self, place: Installation) -> None:
        (name,) = [
            one["metadata"]["name"]
            for one in place.api.items("Workload", "default")
            if holds(one, "Admitted")
        ]
        query = f"?fieldSelector=involvedObject.name%3D{name}"
        events = asked(place, "GET", f"/api/v1/namespaces/default/events{query}")["items"]
        (event,) = [one for one in events if one["reason"] == "Admitted"]
        assert event["type"] == "Normal"
        assert event["involvedObject"]["kind"] == "Workload"
        assert event["message"].startswith("Admitted by ClusterQueue team, wait time since")
        assert event["reportingComponent"]

    def test_pods_of_a_workload_are_found_by_the_marks_that_kueue_gives(
        self, place: Installation
    ) -> None:
        query = "?labelSelector=kueue.x-k8s.io%2Flocal-queue-name%3Ddoor"
        pods = asked(place, "GET", f"/api/v1/namespaces/default/pods{query}")["items"]
        assert pods
        for one in pods:
            assert one["metadata"]["labels"]["kueue.x-k8s.io/cluster-queue-name"] == "team"
            assert one["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "main"

    @pytest.mark.parametrize(
        "series",
        [
            'kueue_pending_workloads{cluster_queue="team",replica_role="leader",status=',
            'kueue_local_queue_pending_workloads{name="door",namespace="default",',
            'kueue_reserving_active_workloads{cluster_queue="team",replica_role="leader"} 1.0',
            'kueue_admitted_workloads_total{cluster_queue="team",priority_class="",',
            'kueue_admission_wait_time_seconds_count{cluster_queue="team",priority_class="",',
            'kueue_cluster_queue_status{cluster_queue="team",replica_role="leader",status=',
            'kueue_cluster_queue_info{cluster_queue="team",parent_cohort="all",',
            'kueue_cohort_info{cohort="all",parent_cohort="",replica_role="leader",',
            'kueue_cohort_subtree_quota{cohort="all",flavor="any",replica_role="leader",',
            'kueue_cohort_subtree_admitted_active_workloads{cohort="all",replica_role=',
            'kueue_unadmitted_workloads{cluster_queue="team",reason="NoReservation",',
            'kueue_pending_scheduling_hashes{cluster_queue="team",replica_role="leader",',
            'kueue_workload_creation_latency_seconds_count{job_kind="Job",',
            'kueue_build_info{build_date="",',
        ],
    )
    def test_a_panel_has_its_series(self, place: Installation, series: str) -> None:
        until(lambda: series in exposition(place), f"served: {series}")


def exposition(place: Installation) -> str:
    """Scrape the leader as a Prometheus with the reader's role does."""
    port = place.controller.metrics
    token = place.cluster.accesses[ADMIN].token
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"https://{HOST}:{port}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=30, context=trusting) as answer:
        return str(answer.read().decode())


class TestNames:
    """Names that scripts and tests look for."""

    def test_the_deployment(self, place: Installation) -> None:
        found = place.api.get("Deployment", "kueue-controller-manager", CONTROLLER_NAMESPACE)
        marks = {
            "control-plane": "controller-manager",
            "app.kubernetes.io/name": "kueue",
            "app.kubernetes.io/component": "controller",
        }
        assert found["metadata"]["labels"].items() >= marks.items()
        assert found["spec"]["template"]["metadata"]["labels"].items() >= marks.items()
        assert found["spec"]["selector"]["matchLabels"] == {"control-plane": "controller-manager"}
        assert [one["name"] for one in found["spec"]["template"]["spec"]["containers"]] == [
            "manager"
        ]

    def test_the_configuration(self, place: Installation) -> None:
        found = place.api.get("ConfigMap", "kueue-manager-config", CONTROLLER_NAMESPACE)
        held = yaml.safe_load(found["data"]["controller_manager_config.yaml"])
        assert held["kind"] == "Configuration"

    @pytest.mark.parametrize(
        ("name", "port"),
        [
            ("kueue-controller-manager-metrics-service", 8443),
            ("kueue-visibility-server", 443),
            ("kueue-webhook-service", 443),
        ],
    )
    def test_a_service(self, place: Installation, name: str, port: int) -> None:
        (found,) = [
            one
            for one in asked(place, "GET", f"/api/v1/namespaces/{CONTROLLER_NAMESPACE}/services")[
                "items"
            ]
            if one["metadata"]["name"] == name
        ]
        assert found["metadata"]["labels"]["app.kubernetes.io/name"] == "kueue"
        ports = [one["port"] for one in found["spec"].get("ports", ())]
        assert ports in ([port], []), "those that lead to this machine have no ports"

    @pytest.mark.parametrize("role", ROLES)
    def test_a_role(self, place: Installation, role: str) -> None:
        found = asked(place, "GET", f"/apis/rbac.authorization.k8s.io/v1/clusterroles/kueue-{role}")
        assert found["rules"]
