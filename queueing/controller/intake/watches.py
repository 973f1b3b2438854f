"""The kinds that are watched: Kueue's kinds, Jobs, and what their translation depends on."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from queueing.controller.intake.admin_objects import AdminObjects
from queueing.controller.intake.pump import Pump
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Reflector, ReflectorSettings, WatchEvent
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.labels import MANAGED
from queueing.translate.wire import cluster, queues, workloads


def reflectors(
    client: Client,
    pump: Pump,
    admin: AdminObjects,
    on_flavor: Callable[[WatchEvent[queues.ResourceFlavor]], None],
) -> Iterator[tuple[Reflector[Any], str]]:
    """Yield a reflector per kind but Jobs, with the plural name of the kind; nothing runs yet.

    `on_flavor` takes events of ResourceFlavors instead of `admin`, because devices need them too.
    """
    for resource, kind, on_event in (
        (resources.NAMESPACES, cluster.Namespace, admin.on_namespace),
        (resources.LIMIT_RANGES, cluster.LimitRange, pump.on_limit_range),
        (resources.RUNTIME_CLASSES, cluster.RuntimeClass, pump.on_runtime_class),
        (resources.PRIORITY_CLASSES, cluster.PriorityClass, admin.on_priority_class),
        (
            resources.WORKLOAD_PRIORITY_CLASSES,
            queues.WorkloadPriorityClass,
            admin.on_workload_priority_class,
        ),
        (resources.RESOURCE_FLAVORS, queues.ResourceFlavor, on_flavor),
        (resources.ADMISSION_CHECKS, queues.AdmissionCheck, admin.on_check),
        (resources.TOPOLOGIES, queues.Topology, admin.on_topology),
        (resources.COHORTS, queues.Cohort, admin.on_cohort),
        (resources.CLUSTER_QUEUES, queues.ClusterQueue, admin.on_cluster_queue),
        (resources.LOCAL_QUEUES, queues.LocalQueue, admin.on_local_queue),
        (resources.WORKLOADS, workloads.Workload, pump.on_workload),
    ):
        made: Reflector[Any] = Reflector(client, resource.within(), kind, on_event)
        yield made, resource.plural


def reflector_of_pods(
    client: Client, pump: Pump, read: Callable[[bytes | msgspec.Raw], PodJob]
) -> tuple[Reflector[PodJob], str]:
    """Return the reflector of the pods that are queued; of all others nothing is ever sent."""
    marked = ReflectorSettings(label_selector=f"{MANAGED}=true")
    made = Reflector(client, resources.PODS.within(), read, pump.on_job, marked)
    return made, resources.PODS.plural
