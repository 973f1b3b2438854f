"""What an admission costs the API server: counted by the server's own audit log."""

from collections.abc import Sequence

from e2e.api import holds
from e2e.identities import CONTROLLER, IDENTITIES
from e2e.jobs import wait_complete
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World
from e2e.writes import Write, audit_log, by_kind

JOBS = 200
# Create the Workload, admit it in one status patch, unsuspend the Job.
UNTIL_UNSUSPENDED = ["create workloads", "patch workloads/status", "patch jobs"]
# Pods ready, finished, finalizer.
AFTERWARDS_MAX = 3
EVENTS_MAX = 2


def test_an_admission_costs_three_writes_and_its_end_three_more(
    audited_space: World, audited_controller: Controller
) -> None:
    space, log = audited_space, audit_log(audited_space.cluster)
    queue = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(queue, {space.name("any"): {"cpu": str(JOBS)}}),
        local_queue(space.namespace, "team", queue),
    )
    # A Job that comes before its queue is ready waits, and to say so is one more write.
    space.wait_for_queue("team")
    for number in range(JOBS):
        space.make(job(space.namespace, f"job-{number:03}", queue="team", pods=Pods(run_s=1)))
    wait_complete(space, count=JOBS)
    workloads = space.api.wait(
        "Workload",
        lambda found: sum(holds(one, "Finished") for one in found) == JOBS,
        namespace=space.namespace,
        what=f"{JOBS} Workloads finished",
    )
    wait_nothing_held(space.api, space.namespace, [queue])

    user = IDENTITIES[CONTROLLER].user
    writes = log.writes(user=user, namespace=space.namespace)
    # The Job controller writes the status of a new Job just then: such a conflict is no write.
    refused = {(one.kind, one.code) for one in writes if one.code >= 400}
    assert refused <= {("patch jobs", 409)}
    writes = [one for one in writes if one.code < 400]
    dear = {}
    for workload in workloads:
        before, after = split(writes, workload)
        if before != UNTIL_UNSUSPENDED or len(after) > AFTERWARDS_MAX:
            dear[workload["metadata"]["name"]] = before + after
    assert dear == {}, by_kind(writes)
    events = [write for write in writes if write.resource == "events"]
    assert len(events) <= EVENTS_MAX * JOBS, by_kind(writes)


def split(writes: Sequence[Write], workload: Object) -> tuple[list[str], list[str]]:
    """Return the writes of one Job and its Workload until the Job was unsuspended, and the rest."""
    names = {workload["metadata"]["ownerReferences"][0]["name"], workload["metadata"]["name"]}
    mine = [one.kind for one in writes if one.name in names and one.resource != "events"]
    unsuspended = mine.index("patch jobs") + 1
    return mine[:unsuspended], mine[unsuspended:]
