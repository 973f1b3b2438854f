"""Hard budgets on a real control plane: what they do not cover waits, or runs where room is."""

from functools import partial
from typing import Any

import pytest

from e2e.jobs import wait_workload
from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, cohort, credit_policy, flavor, job, local_queue
from e2e.wire import Object
from e2e.world import World

pytestmark = pytest.mark.usefixtures("controller")

HOUR_S = 3600
MAX_EXECUTION_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
KINDS = ("LocalQueue", "ClusterQueue", "Cohort")


def policy(space: World) -> Object:
    """Prices and no more: balances bend nothing without fair sharing."""
    return credit_policy(space.name("prices"), space.name("all"))


def budget(space: World, name: str, holder: Object, **spec: Any) -> Object:
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CreditBudget",
        "metadata": {"name": space.name(name)},
        "spec": {"holder": holder, "period": "Yearly", **spec},
    }


def queue(space: World, name: str, above: str, **spec: Any) -> list[Object]:
    """A queue of two cores with a LocalQueue of its name."""
    quotas = {space.name("any"): {"cpu": "2"}}
    return [
        cluster_queue(space.name(name), quotas, cohort=above, **spec),
        local_queue(space.namespace, name, space.name(name)),
    ]


def timed(space: World, name: str, door: str, hours: float, run_s: float | None) -> Object:
    """A Job of one core that says how long it may last."""
    labels = {MAX_EXECUTION_TIME: str(int(hours * HOUR_S))}
    pods = Pods(run_s=run_s)
    return job(space.namespace, name, queue=door, pods=pods, labels=labels)


def says(workload: Object, kind: str, status: str, word: str = "") -> bool:
    return any(
        (one["type"], one["status"]) == (kind, status) and word in one["message"]
        for one in workload.get("status", {}).get("conditions", [])
    )


def waits_for(budget: str, one: Object) -> bool:
    return says(one, "QuotaReserved", "False", budget)


def settled(one: Object) -> bool:
    status = one["status"]
    return bool(status.get("spentMicroCredits")) and status.get("heldMicroCredits") == 0


def bound(one: Object) -> bool:
    return says(one, "Effective", "True")


def test_a_budget_of_any_holder_blocks_what_it_does_not_cover_until_it_is_settled(
    space: World,
) -> None:
    top = space.name("all")
    space.make(flavor(space.name("any"), nodeLabels=POOL), cohort(top), policy(space))
    for kind in KINDS:
        name = kind.lower()
        own = space.name(f"under-{name}")
        space.make(cohort(own, parentName=top), *queue(space, name, own))
        holder: Object = {"kind": kind, "name": own if kind == "Cohort" else space.name(name)}
        if kind == "LocalQueue":
            holder = {"kind": kind, "namespace": space.namespace, "name": name}
        space.make(budget(space, name, holder, grant="1"))
        space.api.wait_one("CreditBudget", space.name(name), bound, what="a budget that binds")
    for kind in KINDS:
        name = kind.lower()
        space.make(timed(space, f"first-{name}", name, 0.8, None))
        wait_workload(space, f"first-{name}", lambda one: says(one, "Admitted", "True"), "to run")
        space.make(timed(space, f"second-{name}", name, 0.5, 1.0))
    for kind in KINDS:
        name = kind.lower()
        wait_workload(
            space,
            f"second-{name}",
            partial(waits_for, space.name(name)),
            "to wait for the budget, which its message names",
        )
        space.api.delete("Job", f"first-{name}", space.namespace)
    for kind in KINDS:
        name = kind.lower()
        wait_workload(
            space, f"second-{name}", lambda one: says(one, "Finished", "True"), "to run in the end"
        )
        kept = space.api.wait_one(
            "CreditBudget",
            space.name(name),
            settled,
            what="a budget that is settled",
        )
        assert kept["status"]["spentMicroCredits"] < 0.3 * HOUR_S * 1_000_000


def test_what_runs_beyond_a_budget_spends_nothing_and_gives_way_to_anybody(space: World) -> None:
    top = space.name("all")
    rules = {"withinClusterQueue": "LowerPriority"}
    space.make(flavor(space.name("any"), nodeLabels=POOL), cohort(top), policy(space))
    space.make(*queue(space, "rich", top, preemption=rules))
    space.make(local_queue(space.namespace, "poor", space.name("rich")))
    holder = {"kind": "LocalQueue", "namespace": space.namespace, "name": "poor"}
    beyond = "DemoteToOpportunistic"
    space.make(budget(space, "poor", holder, grant="0", onExhausted=beyond))
    space.api.wait_one("CreditBudget", space.name("poor"), bound, what="a budget that binds")
    space.make(timed(space, "beyond", "poor", 1, None), timed(space, "more", "poor", 1, None))
    for name in ("beyond", "more"):
        wait_workload(space, name, lambda one: says(one, "Admitted", "True"), "to run")
    found = space.api.wait_one(
        "CreditBudget",
        space.name("poor"),
        lambda one: len(one["status"].get("opportunistic", [])) == 2,
        what="a budget that names who runs beyond it",
    )
    assert found["status"]["spentMicroCredits"] == 0
    space.make(job(space.namespace, "covered", queue="rich"))
    wait_workload(space, "covered", lambda one: says(one, "Finished", "True"), "to preempt and run")
