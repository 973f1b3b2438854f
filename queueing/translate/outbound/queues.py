"""Status of ClusterQueue, LocalQueue and Cohort, from what the engine shows of itself."""

from collections.abc import Mapping
from typing import Any

import msgspec

from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.state.views import Charged, CohortView, QueueView
from queueing.translate.outbound.conditions import Conditions
from queueing.translate.wire import queues as wire
from queueing_api.quantity import amount, format_amount

_NOTHING = Charged(total=0, borrowed=0)


def cluster_queue_status(
    found: wire.ClusterQueue, view: QueueView, now: float, *, with_share: bool
) -> bytes | None:
    """Return the merge patch of a ClusterQueue's status; None when it says so already.

    The weighted share is only shown where fair sharing is on.
    """
    spelled = [
        (flavor.name, [one.name for one in flavor.resources])
        for group in found.spec.resource_groups
        for flavor in group.flavors
    ]
    status = _counts(view) | {
        "flavorsReservation": _usage(spelled, view.reservation),
        "flavorsUsage": _usage(spelled, view.usage),
    }
    if with_share:
        status["fairSharing"] = {"weightedShare": view.weighted_share}
    return _patch(found.metadata.generation, found.status, status, view, now)


def local_queue_status(found: wire.LocalQueue, view: QueueView, now: float) -> bytes | None:
    """Return the merge patch of a LocalQueue's status; None when it says so already."""
    flavors: dict[str, list[str]] = {}
    for flavor, resource in {**view.reservation, **view.usage}:
        flavors.setdefault(flavor, []).append(resource)
    spelled = list(flavors.items())
    status = _counts(view) | {
        "flavorsReservation": _usage(spelled, view.reservation),
        "flavorsUsage": _usage(spelled, view.usage),
    }
    for flavor in (*status["flavorsReservation"], *status["flavorsUsage"]):
        for resource in flavor["resources"]:
            resource.pop("borrowed", None)
    return _patch(found.metadata.generation, found.status, status, view, now)


def cohort_status(found: wire.Cohort, view: CohortView) -> bytes | None:
    """Return the merge patch of a Cohort's status; None when it says so already."""
    known = found.status.fair_sharing
    if known is not None and known.weighted_share == view.weighted_share:
        return None
    share = {"weightedShare": view.weighted_share}
    return msgspec.json.encode({"status": {"fairSharing": share}})


def _counts(view: QueueView) -> dict[str, Any]:
    return {
        "pendingWorkloads": view.pending,
        "reservingWorkloads": view.reserving,
        "admittedWorkloads": view.admitted,
    }


def _usage(
    spelled: list[tuple[str, list[str]]], charged: Mapping[FlavorResource, Charged]
) -> list[dict[str, Any]]:
    return [
        {
            "name": flavor,
            "resources": [
                _resource(
                    name,
                    charged.get(FlavorResource(FlavorName(flavor), ResourceName(name)), _NOTHING),
                )
                for name in resources
            ],
        }
        for flavor, resources in spelled
    ]


def _resource(name: str, charged: Charged) -> dict[str, str]:
    return {
        "name": name,
        "total": format_amount(name, charged.total),
        "borrowed": format_amount(name, charged.borrowed),
    }


def _patch(
    generation: int,
    known: wire.QueueStatus,
    status: dict[str, Any],
    view: QueueView,
    now: float,
) -> bytes | None:
    conditions = Conditions(known.conditions, now=now, generation=generation)
    before = conditions.wire()
    active = view.active
    conditions.set("Active", true=active.status, reason=active.reason, message=active.message)
    same = _digest(msgspec.convert(status, wire.QueueStatus)) == _digest(known)
    if same and conditions.wire() == before:
        return None
    return msgspec.json.encode({"status": {**status, "conditions": conditions.wire()}})


def _digest(status: wire.QueueStatus) -> tuple[object, ...]:
    """Return what of two statuses must agree, however their quantities are spelled."""
    share = status.fair_sharing.weighted_share if status.fair_sharing else 0
    return (
        status.pending_workloads,
        status.reserving_workloads,
        status.admitted_workloads,
        _amounts(status.flavors_reservation),
        _amounts(status.flavors_usage),
        share,
    )


def _amounts(flavors: list[wire.FlavorUsage]) -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (flavor.name, one.name): (amount(one.name, one.total), amount(one.name, one.borrowed))
        for flavor in flavors
        for one in flavor.resources
    }
