"""What defaulting must know of the cluster, kept by three small watches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from queueing.core.selectors import Selector, selects
from queueing.kube.client import Client
from queueing.kube.objects import ObjectMeta, key_of
from queueing.kube.reflector import (
    Added,
    Deleted,
    Modified,
    Reflector,
    ReflectorSettings,
    Synced,
    WatchEvent,
)
from queueing.kube.resources import LOCAL_QUEUES, NAMESPACES, WORKLOAD_PRIORITY_CLASSES
from queueing.webhooks.jobs import DEFAULT, DefaultingContext
from queueing.webhooks.rules import has_managed_owner
from queueing.webhooks.suspension import QueuedKind


class _Labelled(msgspec.Struct, rename="camel", frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}


class _Namespace(msgspec.Struct, frozen=True):
    metadata: _Labelled


class _Named(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


@dataclass(slots=True)
class WatchedObjects:
    """What the watches have told so far."""

    managed: Selector
    """Namespaces that the Configuration puts under management."""
    manage_without_queue: bool = False
    kinds: Sequence[QueuedKind] = ()
    """Kinds that the Configuration turns on."""
    default_class: bool = True
    """Whether queued Jobs get the WorkloadPriorityClass named `default`."""
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    default_queues: set[str] = field(default_factory=set)
    """Keys of the LocalQueues named `default`."""
    default_classes: set[str] = field(default_factory=set)

    def around(self, body: Mapping[str, Any]) -> DefaultingContext:
        """Say what surrounds the object of an AdmissionReview."""
        request = body.get("request") or {}
        namespace = str(request.get("namespace") or "")
        labels = self.namespaces.get(namespace, {"kubernetes.io/metadata.name": namespace})
        return DefaultingContext(
            namespace_managed=selects(self.managed, labels),
            manage_without_queue=self.manage_without_queue,
            default_local_queue=f"{namespace}/{DEFAULT}" in self.default_queues,
            default_priority_class=self.default_class and DEFAULT in self.default_classes,
            owner_managed=has_managed_owner(request.get("object") or {}, self.kinds),
        )

    def hear_namespace(self, event: WatchEvent[_Namespace]) -> None:
        """Keep the labels of namespaces."""
        match event:
            case Added(object=one) | Modified(object=one):
                self.namespaces[one.metadata.name] = one.metadata.labels
            case Deleted(key=key):
                self.namespaces.pop(key, None)
            case Synced():
                pass

    def hear_queue(self, event: WatchEvent[_Named]) -> None:
        """Keep which namespaces have a LocalQueue named `default`."""
        _keep(self.default_queues, event)

    def hear_class(self, event: WatchEvent[_Named]) -> None:
        """Keep whether there is a WorkloadPriorityClass named `default`."""
        _keep(self.default_classes, event)


def _keep(names: set[str], event: WatchEvent[_Named]) -> None:
    match event:
        case Added(object=one) | Modified(object=one):
            names.add(key_of(one.metadata))
        case Deleted(key=key):
            names.discard(key)
        case Synced():
            pass


def watches(client: Client, cluster: WatchedObjects) -> tuple[Reflector[Any], ...]:
    """Return the watches that keep the surroundings; each must run, and be synced first."""
    named_default = ReflectorSettings(field_selector=f"metadata.name={DEFAULT}")
    return (
        Reflector(client, NAMESPACES.within(), _Namespace, cluster.hear_namespace),
        Reflector(client, LOCAL_QUEUES.within(), _Named, cluster.hear_queue, named_default),
        Reflector(
            client, WORKLOAD_PRIORITY_CLASSES.within(), _Named, cluster.hear_class, named_default
        ),
    )
