"""Which columns an object of each kind has."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from queueing.cli.get.states import STYLES, condition, owners, state_of, why
from queueing.cli.tables import Cell
from queueing.kube.resources import (
    CLUSTER_QUEUES,
    COHORTS,
    LOCAL_QUEUES,
    RESOURCE_FLAVORS,
    WORKLOADS,
    Resource,
)
from queueing.translate.times import moment

Wire = Mapping[str, Any]
MINUTE, HOUR, DAY = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Listed:
    """An object, and what else its row needs."""

    value: Wire
    queues: Sequence[Wire] = ()
    """The ClusterQueues of the cluster, for kinds whose rows count them."""
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, and what it shows of an object."""

    header: str
    cell: Callable[[Listed], Cell | str]
    wide: bool = False
    """Whether it is shown only if asked for."""


@dataclass(frozen=True, slots=True)
class ListedKind:
    """A kind that can be listed."""

    resource: Resource
    columns: tuple[Column, ...]
    needs_queues: bool = False

    def shown(self, *, wide: bool, namespaced: bool) -> tuple[Column, ...]:
        """Return the columns for `wide` or not, with the namespace if there are several."""
        columns = tuple(one for one in self.columns if wide or not one.wide)
        return (NAMESPACE, *columns) if namespaced and self.resource.namespaced else columns


def age(seconds: float) -> str:
    """Return a length of time as kubectl does."""
    for unit, length in (("d", DAY), ("h", HOUR), ("m", MINUTE)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)}{unit}"
    return f"{max(0, int(seconds))}s"


def _name(one: Listed) -> str:
    return str(one.value["metadata"]["name"])


def _age(one: Listed) -> str:
    created = one.value["metadata"].get("creationTimestamp")
    return age(one.now - moment(created)) if created else ""


def _at(*path: str) -> Callable[[Listed], str]:
    def cell(one: Listed) -> str:
        value: Any = one.value
        for step in path:
            value = (value or {}).get(step)
        return "" if value is None else str(value)

    return cell


def _active(one: Listed) -> Cell:
    said = condition(one.value, "Active").get("status", "")
    return Cell(str(said), "" if said in {"True", ""} else "red")


def _state(one: Listed) -> Cell:
    state = state_of(one.value)
    return Cell(state.value, STYLES[state])


def _members(one: Listed) -> str:
    name = one.value["metadata"]["name"]
    return str(sum(queue["spec"].get("cohortName") == name for queue in one.queues))


def _users(one: Listed) -> str:
    name = one.value["metadata"]["name"]
    return ",".join(
        sorted(
            queue["metadata"]["name"]
            for queue in one.queues
            for group in queue["spec"].get("resourceGroups") or ()
            if any(flavor["name"] == name for flavor in group["flavors"])
        )
    )


def used_of(queue: Wire) -> str:
    """Return what is reserved of each flavor and resource of a queue, and its nominal quota."""
    usage = (queue.get("status") or {}).get("flavorsReservation") or ()
    held = {
        (flavor["name"], one["name"]): one.get("total", "0")
        for flavor in usage
        for one in flavor.get("resources") or ()
    }
    return ", ".join(
        f"{one['name']} of {flavor['name']}: {held.get((flavor['name'], one['name']), '0')}"
        f"/{one['nominalQuota']}"
        for group in queue["spec"].get("resourceGroups") or ()
        for flavor in group["flavors"]
        for one in flavor["resources"]
    )


def _labels(one: Listed) -> str:
    labels = one.value.get("spec", {}).get("nodeLabels") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _taints(one: Listed) -> str:
    taints = one.value.get("spec", {}).get("nodeTaints") or ()
    return ",".join(f"{each['key']}={each.get('value', '')}:{each['effect']}" for each in taints)


NAMESPACE = Column("NAMESPACE", _at("metadata", "namespace"))
KINDS: Mapping[str, ListedKind] = MappingProxyType(
    {
        "workloads": ListedKind(
            WORKLOADS,
            (
                Column("NAME", _name),
                Column("OWNER", lambda one: ",".join(owners(one.value))),
                Column("QUEUE", _at("spec", "queueName")),
                Column("RESERVED IN", _at("status", "admission", "clusterQueue")),
                Column("PRIORITY", _at("spec", "priority")),
                Column("STATE", _state),
                Column("AGE", _age),
                Column("REASON", lambda one: why(one.value)[0]),
                Column("MESSAGE", lambda one: why(one.value)[1], wide=True),
            ),
        ),
        "queues": ListedKind(
            LOCAL_QUEUES,
            (
                Column("NAME", _name),
                Column("CLUSTERQUEUE", _at("spec", "clusterQueue")),
                Column("PENDING", _at("status", "pendingWorkloads")),
                Column("RESERVING", _at("status", "reservingWorkloads"), wide=True),
                Column("ADMITTED", _at("status", "admittedWorkloads")),
                Column("ACTIVE", _active),
                Column("AGE", _age),
            ),
        ),
        "clusterqueues": ListedKind(
            CLUSTER_QUEUES,
            (
                Column("NAME", _name),
                Column("COHORT", _at("spec", "cohortName")),
                Column("STRATEGY", _at("spec", "queueingStrategy"), wide=True),
                Column("PENDING", _at("status", "pendingWorkloads")),
                Column("RESERVING", _at("status", "reservingWorkloads"), wide=True),
                Column("ADMITTED", _at("status", "admittedWorkloads")),
                Column("ACTIVE", _active),
                Column("AGE", _age),
                Column("USED/NOMINAL", lambda one: used_of(one.value)),
            ),
        ),
        "cohorts": ListedKind(
            COHORTS,
            (
                Column("NAME", _name),
                Column("PARENT", _at("spec", "parentName")),
                Column("CLUSTERQUEUES", _members),
                Column("AGE", _age),
            ),
            needs_queues=True,
        ),
        "flavors": ListedKind(
            RESOURCE_FLAVORS,
            (
                Column("NAME", _name),
                Column("NODE LABELS", _labels),
                Column("TAINTS", _taints),
                Column("TOPOLOGY", _at("spec", "topologyName"), wide=True),
                Column("AGE", _age),
                Column("USED BY", _users),
            ),
            needs_queues=True,
        ),
    }
)
SPELLINGS: Mapping[str, str] = MappingProxyType(
    {
        "workload": "workloads",
        "wl": "workloads",
        "queue": "queues",
        "localqueue": "queues",
        "localqueues": "queues",
        "lq": "queues",
        "clusterqueue": "clusterqueues",
        "cq": "clusterqueues",
        "cohort": "cohorts",
        "flavor": "flavors",
        "resourceflavor": "flavors",
        "resourceflavors": "flavors",
        "rf": "flavors",
    }
)
