"""Manifests with defaults for all but what a test is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from e2e.kinds import KUEUE
from e2e.nodes import FAKE
from e2e.wire import Object

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
# Only real nodes would pull it; simulated ones pretend to.
IMAGE = "registry.k8s.io/pause:3.10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """What the pods of a Job ask for, and what they do on simulated nodes."""

    cpu: str = "1"
    requests: Mapping[str, str] = field(default_factory=dict)
    run_s: float | None = 1.0
    """They succeed after this many seconds; None: they run until they are deleted."""
    fail_s: float | None = None
    drain_s: float | None = None
    """After their deletion they take so long to go."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)

    def template(self) -> Object:
        """Return the pod template."""
        seconds = {"run": self.run_s, "fail": self.fail_s, "drain": self.drain_s}
        behaviour = {
            f"queueing.test/{what}-seconds": f"{value:g}"
            for what, value in seconds.items()
            if value is not None
        }
        requests = {"cpu": self.cpu, **self.requests}
        container = {
            "name": "main",
            "image": IMAGE,
            # Extended resources want limits, and equal ones; for the others it does not matter.
            "resources": {"requests": requests, "limits": dict(self.requests)},
        }
        return {
            "metadata": {"annotations": {**behaviour, **self.annotations}},
            "spec": {
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 1,
                "nodeSelector": {FAKE: "fake"},
                "containers": [container],
                **self.spec,
            },
        }


def job(
    namespace: str,
    name: str,
    *,
    queue: str = "",
    parallelism: int = 1,
    pods: Pods | None = None,
    labels: Mapping[str, str] | None = None,
    suspend: bool = True,
    **spec: Any,
) -> Object:
    """Return a Job of `parallelism` pods, each once, labelled for a LocalQueue."""
    own_labels = {QUEUE_NAME: queue} if queue else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**own_labels, **(labels or {})},
        },
        "spec": {
            "suspend": suspend,
            "parallelism": parallelism,
            "completions": parallelism,
            "backoffLimit": 0,
            "template": (pods or Pods()).template(),
            **spec,
        },
    }


def flavor(name: str, **spec: Any) -> Object:
    return _cluster_wide("ResourceFlavor", name, spec)


def cohort(name: str, **spec: Any) -> Object:
    return _cluster_wide("Cohort", name, spec)


def cluster_queue(
    name: str, quotas: Mapping[str, Mapping[str, Any]], *, cohort: str = "", **spec: Any
) -> Object:
    """Return a ClusterQueue open to all namespaces.

    `quotas` maps flavor → resource → nominal quota, or → a mapping of all three quota fields.
    """
    resources = list(next(iter(quotas.values())))
    flavors = [
        {"name": name, "resources": [_quota(one, quota[one]) for one in resources]}
        for name, quota in quotas.items()
    ]
    member = {"cohortName": cohort} if cohort else {}
    group = {"coveredResources": resources, "flavors": flavors}
    settings = {"namespaceSelector": {}, "resourceGroups": [group], **member, **spec}
    return _cluster_wide("ClusterQueue", name, settings)


def local_queue(namespace: str, name: str, cluster_queue: str, **spec: Any) -> Object:
    return {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterQueue": cluster_queue, **spec},
    }


def workload_priority(name: str, value: int) -> Object:
    return {
        "apiVersion": KUEUE,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
        "description": "made by an end-to-end test",
    }


def within(nominal: str, *, borrow: str = "", lend: str = "") -> Object:
    """Return a quota with a borrowing or lending limit, for `cluster_queue`."""
    limits = {"borrowingLimit": borrow, "lendingLimit": lend}
    return {"nominalQuota": nominal, **{key: value for key, value in limits.items() if value}}


def checkpoint_policy(namespace: str, name: str, spec: Mapping[str, Any]) -> Object:
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CheckpointPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }


def credit_policy(name: str, root: str, **spec: Any) -> Object:
    """Let a second of a core be a credit in a tree of cohorts."""
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CreditPolicy",
        "metadata": {"name": name},
        "spec": {
            "rootCohorts": [root],
            "prices": [{"resource": "cpu", "price": "1"}],
            "horizon": "60s",
            "unit": "coreh",
            **spec,
        },
    }


def names(items: Sequence[Object]) -> list[str]:
    return sorted(item["metadata"]["name"] for item in items)


def _quota(resource: str, quota: Any) -> Object:
    fields = dict(quota) if isinstance(quota, Mapping) else {"nominalQuota": str(quota)}
    return {"name": resource, **fields}


def _cluster_wide(kind: str, name: str, spec: Mapping[str, Any]) -> Object:
    return {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}, "spec": dict(spec)}
