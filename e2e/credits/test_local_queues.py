"""Two namespaces share a queue: who left its part to the other goes first, whatever is killed."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from e2e.api import holds
from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, cohort, credit_policy, flavor, job, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

Launch = Callable[..., Controller]
SETTINGS: dict[str, Any] = {"leaderElection": {"leaderElect": False}}
CORES = 4
RUNS_S = 8.0


def policy(space: World) -> Object:
    root = space.name("all")
    return credit_policy(space.name("within"), root, halfLife="87600h", localQueues="Order")


def seconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp())


def since(workload: Object, kind: str) -> int:
    found = next(one for one in workload["status"]["conditions"] if one["type"] == kind)
    return seconds(found["lastTransitionTime"])


def spent(account: Object, namespace: str) -> int:
    children = account.get("status", {}).get("children", [])
    return sum(one["spent"] for one in children if one["name"] == namespace)


def test_who_left_its_part_to_another_namespace_goes_first_also_after_a_kill(
    space: World, controllers: Launch
) -> None:
    running = controllers("first", SETTINGS)
    lender, debtor = space.namespace, space.another_namespace("debtor")
    queue, any_flavor = space.name("shared"), space.name("any")
    mode = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    space.make(
        flavor(any_flavor, nodeLabels=POOL),
        cohort(space.name("all")),
        policy(space),
        cluster_queue(
            queue, {any_flavor: {"cpu": CORES}}, cohort=space.name("all"), admissionScope=mode
        ),
        *(local_queue(one, "main", queue) for one in (lender, debtor)),
    )
    account = f"clusterqueue.{queue}"
    space.api.wait_one(
        "CreditAccount", account, lambda one: "asOf" in one.get("status", {}), what="written"
    )

    def submit(namespace: str, name: str) -> None:
        pods = Pods(run_s=RUNS_S)
        space.make(job(namespace, name, queue="main", parallelism=CORES, pods=pods))

    def until(namespace: str, name: str, kind: str) -> Object:
        """Wait for a condition of the Workload of a Job."""

        def found(workloads: list[Object]) -> list[Object]:
            return [
                one
                for one in workloads
                if any(two["name"] == name for two in one["metadata"].get("ownerReferences", []))
                and holds(one, kind)
            ]

        items = space.api.wait(
            "Workload", lambda all_: bool(found(list(all_))), namespace=namespace, what=kind
        )
        return found(list(items))[0]

    submit(debtor, "first")
    until(debtor, "first", "Admitted")
    space.api.wait_one("CreditAccount", account, lambda one: spent(one, debtor) > 0, what="a debt")
    running.kill()
    submit(debtor, "second")
    submit(lender, "mine")
    running = controllers("again", SETTINGS)
    until(lender, "mine", "Admitted")
    ended = until(debtor, "first", "Finished")
    waiting = [one for one in space.api.items("Workload", debtor) if not holds(one, "Finished")]
    assert [holds(one, "QuotaReserved") for one in waiting] == [False]
    running.stop()
    status = space.api.get("CreditAccount", account)
    # An account covers whole seconds that are over; who ends in the last one pays for it later.
    until_then = min(since(ended, "Finished"), seconds(status["status"]["asOf"]))
    held = until_then - since(ended, "QuotaReserved")
    assert spent(status, debtor) == CORES // 2 * held * 1_000_000
