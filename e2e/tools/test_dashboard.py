"""What a dashboard lists, watches and shows beside."""

import pytest

from e2e.api import holds
from e2e.identities import ADMIN
from e2e.installed import Installation
from e2e.scraping import scraped
from e2e.serving import until
from e2e.tools.asking import (
    KUEUE,
    VERSIONS,
    asked,
)


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
    status, text = scraped(place.controller.metrics, place.cluster.accesses[ADMIN].token)
    assert status == 200
    return text
