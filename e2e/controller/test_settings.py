"""What the Configuration makes of Jobs: fair shares, turns, and other resources to count."""

from collections.abc import Iterator, Sequence

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller, Residents
from e2e.wire import Object
from e2e.world import World

FOREVER = Pods(run_s=None)
CARD, CREDIT = "example.com/card", "example.com/credit"
SHARING = {
    "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]},
    "admissionFairSharing": {"usageHalfLifeTime": "10m", "usageSamplingInterval": "1s"},
    "resources": {
        "transformations": [{"input": CARD, "strategy": "Replace", "outputs": {CREDIT: "5"}}]
    },
}


@pytest.fixture(scope="module")
def sharing(installed: Cluster, residents: Residents) -> Iterator[Controller]:
    """Run one replica that shares fairly and counts cards as credits."""
    residents.leave(installed)
    with launching(installed) as launch:
        yield launch("sharing", SHARING)


def test_borrowers_come_to_equal_shares(space: World, sharing: Controller) -> None:
    family, preempts = space.name("all"), {"reclaimWithinCohort": "Any"}
    space.make(flavor(space.name("any")))
    space.make(cluster_queue(space.name("idle"), {space.name("any"): {"cpu": "4"}}, cohort=family))
    for short in ("first", "second"):
        quota = {space.name("any"): {"cpu": "0"}}
        space.make(
            cluster_queue(space.name(short), quota, cohort=family, preemption=preempts),
            local_queue(space.namespace, short, space.name(short)),
        )
    for number in range(4):
        space.make(job(space.namespace, f"first-{number}", queue="first", pods=FOREVER))
    for number in range(4):
        wait_job(space, f"first-{number}", running, "running on borrowed quota")
    for number in range(4):
        space.make(job(space.namespace, f"second-{number}", queue="second", pods=FOREVER))

    def equal(jobs: Sequence[Object]) -> bool:
        names = [one["metadata"]["name"] for one in jobs if running(one)]
        return sorted(name.partition("-")[0] for name in names) == ["first"] * 2 + ["second"] * 2

    jobs = space.api.wait("Job", equal, namespace=space.namespace, what="two and two running")
    victims = [
        one["metadata"]["name"]
        for one in jobs
        if one["metadata"]["name"].startswith("first") and not running(one)
    ]
    for name in victims:
        found = condition(workload_of(space, name), "Preempted")
        assert found["reason"] == "InCohortFairSharing"


def test_local_queues_take_turns_by_what_they_used(space: World, sharing: Controller) -> None:
    scope = {"admissionMode": "UsageBasedAdmissionFairSharing"}
    space.make(
        flavor(space.name("any")),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "1"}}, admissionScope=scope),
        local_queue(space.namespace, "heavy", space.name("cq")),
        local_queue(space.namespace, "light", space.name("cq")),
    )
    space.make(job(space.namespace, "heavy-1", queue="heavy", pods=FOREVER))
    wait_job(space, "heavy-1", running, "running")
    for name in ("heavy-2", "light-1"):
        space.make(job(space.namespace, name, queue=name.partition("-")[0], pods=FOREVER))
        workload_of(space, name)

    def used(one: Object) -> bool:
        share = one.get("status", {}).get("fairSharing", {})
        return bool(share.get("admissionFairSharingStatus", {}).get("consumedResources"))

    space.api.wait_one("LocalQueue", "heavy", used, namespace=space.namespace, what="usage")
    space.api.delete("Job", "heavy-1", space.namespace)
    wait_job(space, "light-1", running, "running before the older one")
    assert space.api.get("Job", "heavy-2", space.namespace)["spec"]["suspend"]


def test_a_resource_counts_as_the_configuration_says(space: World, sharing: Controller) -> None:
    quota = {space.name("any"): {"cpu": "8", CREDIT: "14"}}
    space.make(
        flavor(space.name("any")),
        cluster_queue(space.name("cq"), quota),
        local_queue(space.namespace, "team", space.name("cq")),
    )
    cards = Pods(requests={CARD: "2"}, run_s=None)
    for name in ("fits", "waits"):
        space.make(job(space.namespace, name, queue="team", pods=cards))
        workload_of(space, name)
    found = wait_workload(space, "fits", lambda one: holds(one, "Admitted"), "admitted")
    [assigned] = found["status"]["admission"]["podSetAssignments"]
    assert assigned["resourceUsage"] == {"cpu": "1", CREDIT: "10"}
    pending = wait_workload(
        space, "waits", lambda one: bool(condition(one, "QuotaReserved")), "waiting"
    )
    assert CREDIT in condition(pending, "QuotaReserved")["message"]
