"""What `queueing credits` shows beside an account: weights, LocalQueues and hard budgets."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from queueing.sim.documents import Document
from queueing.translate.credits import number


class AccountName(NamedTuple):
    """Whom a child of an account is: `queue` is set for a namespace, which is one within it."""

    kind: str
    name: str
    queue: str = ""


class AccountContext:
    """What other objects say of the children of accounts."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._weights: dict[AccountName, Fraction] = {}
        self._local_queues: dict[AccountName, list[str]] = {}
        self._budgets: dict[AccountName, list[dict[str, str]]] = {}
        budgets = []
        for one in sorted(documents, key=lambda each: (each.kind, each.title)):
            if one.kind in {"ClusterQueue", "Cohort"}:
                self._weights[AccountName(one.kind, one.name)] = _weight(one.value)
            elif one.kind == "LocalQueue":
                self._take_local_queue(one.value)
            elif one.kind == "CreditBudget":
                budgets.append(one.value)
        for budget in budgets:
            self._take_budget(budget)

    def of(self, child: Mapping[str, Any], queue: str) -> dict[str, Any]:
        """Return what is to be added to a child; what nobody told is left out."""
        name = AccountName(child["kind"], child["name"], queue)
        found: dict[str, Any] = {}
        weight = self._weights.get(name)
        if weight is not None:
            bent = weight * number(str(child.get("weightFactor", "1")))
            found |= {"weight": f"{float(weight):.6g}", "bentWeight": f"{float(bent):.4g}"}
        if queue and name in self._local_queues:
            found["localQueues"] = self._local_queues[name]
        if name in self._budgets:
            found["budgets"] = self._budgets[name]
        return found

    def _take_local_queue(self, value: Mapping[str, Any]) -> None:
        """Take in a LocalQueue: a namespace weighs as much as its heaviest in a queue."""
        meta, spec = value["metadata"], value.get("spec") or {}
        place = AccountName(
            "Namespace", str(meta.get("namespace", "")), str(spec.get("clusterQueue", ""))
        )
        self._weights[place] = max(self._weights.get(place, Fraction(0)), _weight(value))
        self._local_queues.setdefault(place, []).append(str(meta.get("name", "")))

    def _take_budget(self, value: Mapping[str, Any]) -> None:
        """Take in a budget; that of a LocalQueue stands with its namespace."""
        holder, status = value["spec"]["holder"], value.get("status") or {}
        entry = {
            "name": str(value["metadata"]["name"]),
            "left": str(status.get("left", "")),
            "held": str(status.get("held", "")),
            "periodEnd": str(status.get("periodEnd", "")),
        }
        names = [AccountName(holder["kind"], holder["name"])]
        if holder["kind"] == "LocalQueue":
            home = holder.get("namespace", "")
            names = [
                place
                for place, local_queues in self._local_queues.items()
                if place.name == home and holder["name"] in local_queues
            ]
        for name in names:
            self._budgets.setdefault(name, []).append(entry)


def _weight(value: Mapping[str, Any]) -> Fraction:
    sharing = (value.get("spec") or {}).get("fairSharing") or {}
    return number(str(sharing.get("weight", "1")))
