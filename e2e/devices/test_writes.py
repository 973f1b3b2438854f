"""What claims add to the price of an admission: counted by the server's own audit log."""

from collections.abc import Sequence

from e2e.api import holds
from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import GPU, device_flavor, make_known, training, wait_no_claims
from e2e.identities import CONTROLLER, IDENTITIES
from e2e.jobs import wait_complete
from e2e.objects import cluster_queue, flavor, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World
from e2e.writes import Write, audit_log, by_kind

JOBS = 24
UNTIL_UNSUSPENDED = [
    "create workloads",
    "patch workloads/status",
    "create resourceclaimtemplates",
    "patch jobs",
]
# Pods ready, finished, finalizer, and the template, which goes.
AFTERWARDS_MAX = 4


def test_a_claim_costs_one_write_more_until_the_job_runs_and_one_trial_for_all_that_are_alike(
    audited_space: World, audited_controller: Controller
) -> None:
    space, log = audited_space, audit_log(audited_space.cluster)
    rack = Rack(space.api, space.prefix, [])
    try:
        rack.add("h100", [{"devices": gpus(H100, JOBS)}])
        furnish(space, rack)
        log.mark()
        for number in range(JOBS):
            space.make(training(space, f"job-{number:03}", 1, template={"run_s": 1}))
        wait_complete(space, count=JOBS)
        wait_no_claims(space)
        workloads = space.api.wait(
            "Workload",
            lambda found: sum(holds(one, "Finished") for one in found) == JOBS,
            namespace=space.namespace,
            what=f"{JOBS} Workloads finished",
        )
    finally:
        rack.remove()
    user = IDENTITIES[CONTROLLER].user
    found = [one for one in log.writes(user=user, namespace=space.namespace) if one.code < 400]
    counts = by_kind(found)
    assert counts["create resourceclaimtemplates"] == JOBS + 1
    assert counts["create resourceclaims"] == 0
    dear = {}
    for workload in workloads:
        before, after = split(found, workload)
        if before != UNTIL_UNSUSPENDED or len(after) > AFTERWARDS_MAX:
            dear[workload["metadata"]["name"]] = before + after
    assert dear == {}, counts


def furnish(space: World, rack: Rack) -> None:
    name = space.name("h100")
    space.make(
        device_class(space.name("gpu")), flavor(name, nodeLabels={LABEL: rack.label("h100")})
    )
    make_known(space, device_flavor(name, space.name("gpu")))
    space.make(
        cluster_queue(space.name("cq"), {name: {"cpu": "100", GPU: str(JOBS)}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )
    # A Job that comes before its queue is ready waits, and to say so is one more write.
    space.wait_for_queue("team")


def split(writes: Sequence[Write], workload: Object) -> tuple[list[str], list[str]]:
    """Return the writes of one Job until it was unsuspended, and the rest; no trial among them."""
    job = workload["metadata"]["ownerReferences"][0]["name"]
    names = {job, workload["metadata"]["name"]}
    mine = [
        one.kind
        for one in writes
        if one.resource != "events" and (one.name in names or one.name.startswith(f"kq-{job}-"))
    ]
    unsuspended = mine.index("patch jobs") + 1
    return mine[:unsuspended], mine[unsuspended:]
