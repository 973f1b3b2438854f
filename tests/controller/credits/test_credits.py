"""Credits on a live API server: accounts, conditions, grants, and finalizers that wait for them."""

import asyncio
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from queueing.apiserver.server import Fault
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.credits import accounts
from tests.controller.harness import FLAVOR, KUEUE, MakeWorld, Wire, World, false, job, true
from tests.controller.test_kinds import (
    JOB_SET,
    ON,
    create,
    define,
    ended,
    job_set,
    runs,
    status,
    until,
)

POLICY: Wire = {
    "apiVersion": "queueing.dev/v1alpha1",
    "kind": "CreditPolicy",
    "metadata": {"name": "default"},
    "spec": {
        "prices": [{"resource": "cpu", "price": "1"}],
        "halfLife": "87600h",
        "horizon": "60s",
        "unit": "coreh",
        "usageRecords": {},
    },
}
GRANT: Wire = {
    "apiVersion": "queueing.dev/v1alpha1",
    "kind": "CreditGrant",
    "metadata": {"name": "gift"},
    "spec": {
        "receiver": {"kind": "ClusterQueue", "name": "b"},
        "amount": "2",
        "author": "ada",
        "reason": "a deadline",
    },
}
BUDGET: Wire = {
    "apiVersion": "queueing.dev/v1alpha1",
    "kind": "CreditBudget",
    "metadata": {"name": "daily"},
    "spec": {
        "holder": {"kind": "LocalQueue", "namespace": "team", "name": "a"},
        "grant": "1",
        "period": "Daily",
    },
}


@pytest.fixture(autouse=True)
def accounts_are_written_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "EVERY_S", 3.0)


FAIR = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}


def queue(name: str, cpu: str) -> list[Wire]:
    flavor = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    return [
        {
            "apiVersion": KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {
                "cohortName": "all",
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
            },
        },
        {
            "apiVersion": KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": "team"},
            "spec": {"clusterQueue": name},
        },
    ]


def of_queue(name: str, queue_name: str, cpu: str, seconds: float) -> Wire:
    return job(name, cpu, seconds, labels={"kueue.x-k8s.io/queue-name": queue_name})


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def since(one: Wire, kind: str) -> int:
    found = next(c for c in one["status"]["conditions"] if c["type"] == kind)
    return at(found["lastTransitionTime"])


def micros(account: Wire) -> dict[str, int]:
    children = account["status"].get("children", [])
    return {one["name"]: one["microCredits"] for one in children}


def as_of(account: Wire) -> int:
    return at(account["status"]["asOf"])


async def start(w: World, *more: Wire) -> None:
    await w.make(FLAVOR, *queue("a", "2"), *queue("b", "4"), POLICY, *more)


async def test_what_a_job_borrowed_is_in_the_account_when_its_workload_may_go(
    world: MakeWorld,
) -> None:
    async with world(fairSharing=FAIR) as w:
        await start(w, of_queue("big", "a", "5", 60))
        await w.workload("big", true("QuotaReserved"))
        policy = await w.until("CreditPolicy", "default", true("Effective"))
        assert "all" in policy["status"]["conditions"][0]["message"]
        held = await w.workload("big", true("Finished"))
        reserved, finished = since(held, "QuotaReserved"), since(held, "Finished")
        free = await w.workload("big", lambda one: not one["metadata"].get("finalizers"))
        assert free["metadata"]["uid"] == held["metadata"]["uid"]
        account = await w.get("CreditAccount", "all")
        assert as_of(account) >= finished
        spent = 3 * (finished - reserved) * 1_000_000
        assert micros(account)["a"] == -spent
        assert spent - 10 <= micros(account)["b"] <= spent
        [lender] = [one for one in account["status"]["children"] if one["name"] == "b"]
        assert [one["name"] for one in lender["lentTo"]] == ["ClusterQueue/a"]
        assert account["status"]["largest"].endswith("coreh")
        rows = [row for one in await w.list("UsageRecord") for row in one["status"]["rows"]]
        door = [row for row in rows if row.get("localQueue") == "team/a"]
        assert sum(int(row["used"]) for row in door) == 5000 * (finished - reserved)
        assert sum(int(row["costMicroCredits"]) for row in door) == 5 * spent // 3
        lent = sum(int(row.get("lent", 0)) for row in rows if row["clusterQueue"] == "b")
        assert spent // 1000 - 5 <= lent <= spent // 1000


async def test_so_is_what_an_object_of_another_kind_borrowed(world: MakeWorld) -> None:
    async with world(fairSharing=FAIR, **ON) as w:
        await define(w, JOB_SET)
        await start(w)
        await create(w, JOB_SET, job_set("big", replicas=5, queue="a"))
        await until(w, JOB_SET, "big", runs)
        await w.until("CreditPolicy", "default", true("Effective"))
        await w.until("CreditAccount", "all", lambda one: micros(one).get("a", 0) < 0)
        await status(w, JOB_SET, "big", ended("Completed"))
        held = await w.workload("big", true("Finished"))
        await w.workload("big", lambda one: not one["metadata"].get("finalizers"))
        account = await w.get("CreditAccount", "all")
        borrowed_s = since(held, "Finished") - since(held, "QuotaReserved")
        assert micros(account)["a"] == -3 * borrowed_s * 1_000_000


async def test_what_a_namespace_borrowed_within_a_queue_is_in_the_account_of_the_queue(
    world: MakeWorld,
) -> None:
    shared, door = queue("a", "4")
    del shared["spec"]["cohortName"]
    shared["spec"]["admissionScope"] = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    other = {**door, "metadata": {"name": "a", "namespace": "other"}}
    terms = {**POLICY, "spec": {**POLICY["spec"], "localQueues": "Order"}}
    async with world() as w:
        await w.make(FLAVOR, shared, door, other, terms, of_queue("big", "a", "3", 60))
        policy = await w.until("CreditPolicy", "default", true("Effective"))
        assert "Within ClusterQueues" in policy["status"]["conditions"][0]["message"]
        held = await w.workload("big", true("Finished"))
        free = await w.workload("big", lambda one: not one["metadata"].get("finalizers"))
        assert free["metadata"]["uid"] == held["metadata"]["uid"]
        account = await w.get("CreditAccount", "clusterqueue.a")
        assert account["spec"] == {"clusterQueueName": "a"}
        assert as_of(account) >= since(held, "Finished")
        spent = (since(held, "Finished") - since(held, "QuotaReserved")) * 1_000_000
        assert micros(account)["team"] == -spent
        assert spent - 10 <= micros(account)["other"] <= spent


async def test_a_policy_without_fair_sharing_says_so_and_a_grant_says_when_it_is_booked(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await start(w, GRANT)

        def disabled(one: Wire) -> bool:
            found: list[dict[str, Any]] = one.get("status", {}).get("conditions", [])
            return [(c["status"], c["reason"]) for c in found] == [("False", "FairSharingDisabled")]

        await w.until("CreditPolicy", "default", disabled)
        await w.until("CreditGrant", "gift", true("Applied"))
        account = await w.until("CreditAccount", "all", lambda one: bool(micros(one).get("b")))
        assert micros(account) == {"a": 0, "b": 2 * 3600 * 1_000_000}
        assert [one["name"] for one in account["status"]["grants"]] == ["gift"]
        assert {one["weightFactor"] for one in account["status"]["children"]} == {"1"}


def timed(name: str, seconds: int) -> Wire:
    """A Job of two cores that says how long it may last."""
    labels = {
        "kueue.x-k8s.io/queue-name": "a",
        "kueue.x-k8s.io/max-exec-time-seconds": str(seconds),
    }
    return job(name, "2", 60, labels=labels)


async def test_a_budget_names_itself_to_who_waits_for_it_and_is_settled_by_who_ends(
    world: MakeWorld,
) -> None:
    async with world() as w:
        await start(w, BUDGET)
        await w.until("CreditBudget", "daily", true("Effective"))
        await w.make(timed("first", 1200), timed("second", 7200))

        def waits(one: Wire) -> bool:
            conditions = one.get("status", {}).get("conditions", [])
            return any(
                c["reason"] == "BudgetExhausted" and "CreditBudget daily" in c["message"]
                for c in conditions
            )

        await w.workload("second", waits)
        held = await w.workload("first", true("Finished"))
        lasted = since(held, "Finished") - since(held, "QuotaReserved")
        free = await w.workload("first", lambda one: not one["metadata"].get("finalizers"))
        assert free["metadata"]["uid"] == held["metadata"]["uid"]
        kept = (await w.get("CreditBudget", "daily"))["status"]
        assert at(kept["asOf"]) >= since(held, "Finished")
        assert kept["spentMicroCredits"] == 2 * lasted * 1_000_000
        assert kept["heldMicroCredits"] == 0


@dataclass
class Clerk:
    """Refuses to write accounts while told to, or from the next on that names who leaves."""

    refuses: bool = False
    once_named: bool = False
    refused: int = 0

    async def __call__(self, call: HttpRequest) -> Fault | None:
        if call.method != "PATCH" or "/creditaccounts/" not in call.path:
            return None
        if self.refuses:
            self.refused += 1
            return Fault(status=503)
        self.refuses = self.once_named and bool(json.loads(call.body)["status"]["leavers"])
        return None

    async def until_refused(self, times: int) -> None:
        async with asyncio.timeout(60):
            while self.refused < times:
                await asyncio.sleep(0.02)

    def relent(self) -> None:
        self.refuses = self.once_named = False


async def test_pods_give_quota_back_only_after_what_they_held_is_written_down(
    world: MakeWorld,
) -> None:
    clerk = Clerk()
    async with world(intercept=clerk, fairSharing=FAIR) as w:
        await start(w)
        await w.until("CreditAccount", "all", lambda one: "asOf" in one.get("status", {}))
        clerk.refuses = True
        shape = {"parallelism": 2, "completions": 3}
        labels = {"kueue.x-k8s.io/queue-name": "a"}
        await w.make(job("big", "1", 120, labels=labels, **shape))
        await w.until("Job", "big", lambda one: one.get("status", {}).get("succeeded") == 2)
        await clerk.until_refused(2)
        kept = await w.workload("big", true("QuotaReserved"))
        assert "reclaimablePods" not in kept["status"]
        clerk.relent()
        freed = await w.workload("big", lambda one: "reclaimablePods" in one["status"])
        assert freed["status"]["reclaimablePods"] == [{"name": "main", "count": 1}]
        assert as_of(await w.get("CreditAccount", "all")) >= since(freed, "QuotaReserved")


async def test_nobody_reserves_again_before_the_first_stay_is_written_down(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "PATIENCE_S", 0.1)
    clerk = Clerk()
    async with world(intercept=clerk, fairSharing=FAIR) as w:
        await start(w, of_queue("big", "a", "5", 600))
        await w.workload("big", true("QuotaReserved"))
        [found] = await w.list("Workload")
        name = found["metadata"]["name"]
        clerk.once_named = True
        await w.patch("Workload", name, {"spec": {"active": False}})
        await w.workload("big", false("QuotaReserved"))
        await w.patch("Workload", name, {"spec": {"active": True}})
        await clerk.until_refused(12)
        assert false("QuotaReserved")(await w.get("Workload", name))
        clerk.relent()
        again = await w.workload("big", true("QuotaReserved"))
        assert as_of(await w.get("CreditAccount", "all")) <= since(again, "QuotaReserved")


async def test_the_account_of_a_ledger_in_which_nothing_changes_is_never_old(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "EVERY_S", 0.5)
    monkeypatch.setattr(accounts, "UNCHANGED_S", 2)
    async with world(fairSharing=FAIR) as w:
        await start(w)
        first = await w.until("CreditAccount", "all", lambda one: "asOf" in one.get("status", {}))
        later = await w.until("CreditAccount", "all", lambda one: as_of(one) >= as_of(first) + 2)
        assert micros(later) == {"a": 0, "b": 0}
