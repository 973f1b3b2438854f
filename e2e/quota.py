"""What Workloads hold and queues report: read from the API, checked against what was offered."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from e2e.api import Api, holds, summary
from e2e.wire import Object

SUFFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
COUNTS = ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")


def amount(quantity: str) -> Decimal:
    """Read a Kubernetes quantity of the kinds that these tests use."""
    match = re.fullmatch(r"([0-9.]+)(m|k|M|G|Ki|Mi|Gi)?", quantity)
    if match is None:
        raise ValueError(f"not a quantity that the tests use: {quantity!r}")
    number, suffix = Decimal(match.group(1)), match.group(2) or ""
    return number / 1000 if suffix == "m" else number * SUFFIXES[suffix]


def holds_quota(workload: Object) -> bool:
    """Tell whether a Workload is charged: reserved and not finished, also while it is evicted."""
    return holds(workload, "QuotaReserved") and not holds(workload, "Finished")


def charge_by_flavor(workload: Object) -> dict[tuple[str, str, str], Decimal]:
    """Return what a Workload with quota holds, by ClusterQueue, flavor and resource."""
    charge: dict[tuple[str, str, str], Decimal] = {}
    status = workload["status"]
    over = {one["name"]: one["count"] for one in status.get("reclaimablePods") or []}
    wanted = {one["name"]: one["count"] for one in workload["spec"]["podSets"]}
    for pod_set in status["admission"]["podSetAssignments"]:
        name, given = pod_set["name"], pod_set["count"]
        # An elastic job that shrinks has what it was given, and is charged for what it wants.
        left = min(given, wanted[name]) - over.get(name, 0)
        # Who came back when all its pods but none had succeeded has a count of nothing.
        share = Decimal(left) / given if given else Decimal(1)
        for resource, quantity in pod_set.get("resourceUsage", {}).items():
            place = (status["admission"]["clusterQueue"], pod_set["flavors"][resource], resource)
            charge[place] = charge.get(place, Decimal(0)) + amount(quantity) * share
    return charge


def held(workloads: Iterable[Object]) -> dict[tuple[str, str], Decimal]:
    """Sum what Workloads hold, by ClusterQueue and resource."""
    total: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for workload in workloads:
        if holds_quota(workload):
            for (queue, _, resource), value in charge_by_flavor(workload).items():
                total[queue, resource] += value
    return total


@dataclass(slots=True)
class Ledger:
    """Refuses any state in which a group of ClusterQueues holds more than it was offered.

    To be called with every state of the Workloads that a watch shows: nothing in between is missed.
    """

    limits: Mapping[tuple[frozenset[str], str], str]
    """(ClusterQueues, resource) → what they may hold together."""
    most: dict[tuple[frozenset[str], str], Decimal] = field(default_factory=dict)

    def check(self, workloads: Sequence[Object]) -> None:
        """Raise AssertionError when more is held than offered."""
        by_queue = held(workloads)
        for (queues, resource), limit in self.limits.items():
            total = sum((by_queue[queue, resource] for queue in queues), Decimal(0))
            self.most[queues, resource] = max(total, self.most.get((queues, resource), total))
            assert total <= amount(limit), (
                f"{sorted(queues)} hold {total} {resource} of {limit}:\n"
                + summary(one for one in workloads if holds_quota(one))
            )


def held_by_status(queue: Object) -> list[str]:
    """Name what a queue's status still reports as held or waiting."""
    status = queue.get("status", {})
    left = [f"{name}={status[name]}" for name in COUNTS if status.get(name)]
    for usage in ("flavorsReservation", "flavorsUsage"):
        for flavor in status.get(usage) or []:
            for resource in flavor["resources"]:
                for part in ("total", "borrowed"):
                    if re.search("[1-9]", str(resource.get(part, "0"))):
                        name = f"{usage}/{flavor['name']}/{resource['name']}"
                        left.append(f"{name}: {part} {resource[part]}")
    return left


def wait_nothing_held(api: Api, namespace: str, cluster_queues: Sequence[str]) -> None:
    """Wait until queues report that nothing waits, reserves or uses quota."""
    wanted = frozenset(cluster_queues)

    def idle(queues: Sequence[Object]) -> bool:
        mine = [one for one in queues if one["metadata"]["name"] in wanted]
        return len(mine) == len(wanted) and not any(map(held_by_status, mine))

    api.wait("ClusterQueue", idle, what=f"no quota held in {sorted(wanted)}")
    api.wait(
        "LocalQueue",
        lambda queues: not any(map(held_by_status, queues)),
        namespace=namespace,
        what=f"no quota held through the LocalQueues of {namespace}",
    )
