"""Status patches of ClusterQueues, LocalQueues and Cohorts, from views of the engine."""

from collections.abc import Mapping
from typing import Any

import msgspec

from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.reports.views import Charged, CohortView, QueueView, UsageHistory
from queueing.translate.outbound.conditions import Conditions
from queueing.translate.times import timestamp
from queueing.translate.wire import queues as wire
from queueing_api.quantity import NANO_PER_MILLI, ParsedQuantity, amount, format_amount, parse

_NOTHING = Charged(total=0, borrowed=0)
WHOLE_FROM = 1_000_000


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
    if view.history is not None:
        status["fairSharing"] = _fair_sharing(found.status, view.history)
    return _patch(found.metadata.generation, found.status, status, view, now)


def cohort_status(found: wire.Cohort, view: CohortView) -> bytes | None:
    """Return the merge patch of a Cohort's status; None when it says so already."""
    known = found.status.fair_sharing
    if known is not None and known.weighted_share == view.weighted_share:
        return None
    share = {"weightedShare": view.weighted_share}
    return msgspec.json.encode({"status": {"fairSharing": share}})


def _fair_sharing(known: wire.QueueStatus, history: UsageHistory) -> dict[str, Any]:
    """Return the fields of a usage history; a resource that left it is removed by a null."""
    before = _history(known)
    gone = dict.fromkeys(before.consumed_resources) if before is not None else {}
    shown = {name: _spelled(history.consumed[name]) for name in sorted(history.consumed)}
    return {
        "weightedShare": 0,
        "admissionFairSharingStatus": {
            "consumedResources": {**gone, **shown},
            "lastUpdate": timestamp(history.updated),
        },
    }


def _spelled(amount: float) -> str:
    """Return an amount as a quantity: in thousandths of a unit, from a million on in units."""
    thousandths = round(amount) * 1000 if amount >= WHOLE_FROM else round(amount * 1000)
    return str(ParsedQuantity(thousandths * NANO_PER_MILLI))


def _history(status: wire.QueueStatus) -> wire.UsageHistory | None:
    share = status.fair_sharing
    return None if share is None else share.admission_fair_sharing_status


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
    """Return what two statuses are compared by, with quantities in one form."""
    share = status.fair_sharing.weighted_share if status.fair_sharing else 0
    return (
        status.pending_workloads,
        status.reserving_workloads,
        status.admitted_workloads,
        _amounts(status.flavors_reservation),
        _amounts(status.flavors_usage),
        share,
        _remembered(_history(status)),
    )


def _remembered(history: wire.UsageHistory | None) -> tuple[object, ...]:
    if history is None:
        return ()
    found = history.consumed_resources.items()
    amounts = {name: parse(one).nano for name, one in found if one is not None}
    return (amounts, history.last_update)


def _amounts(flavors: list[wire.FlavorUsage]) -> dict[tuple[str, str], tuple[int, int]]:
    return {
        (flavor.name, one.name): (amount(one.name, one.total), amount(one.name, one.borrowed))
        for flavor in flavors
        for one in flavor.resources
    }
