"""Workloads: what is filled in at creation, and the names of what rules speak of."""

from queueing.webhooks.findings import Wire, entries

BOOST = "kueue.x-k8s.io/priority-boost"
GATED_BY = "kueue.x-k8s.io/admission-gated-by"
ELASTIC = "kueue.x-k8s.io/elastic-job"
GATE_NAME = "[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
CONTAINER_LISTS = ("initContainers", "containers")


def default_workload(workload: Wire) -> Wire:
    """Return the workload with the names and counts that the API fills in."""
    pod_sets = [
        {**pod_set, "name": str(pod_set.get("name") or "main").lower()}
        for pod_set in entries(workload, "spec", "podSets")
    ]
    return {**workload, "spec": {**(workload.get("spec") or {}), "podSets": pod_sets}}
