"""Two hundred Jobs of mixed shapes through borrowing cohorts, to the last of them."""

from e2e.controller.shapes import NOMINAL_CPU, Cohorts
from e2e.jobs import wait_complete
from e2e.objects import names
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.world import World

JOBS = 200


def test_two_hundred_jobs_of_mixed_shapes_complete_and_nothing_is_held(
    space: World, controller: Controller
) -> None:
    queues = Cohorts(space, cohorts=2, queues=3)
    queues.make()
    ledger = queues.ledger()
    for one in queues.jobs(JOBS):
        space.make(one)

    queues.wait_finished(JOBS, ledger)
    jobs = wait_complete(space, count=JOBS)
    assert not [job["metadata"]["name"] for job in jobs if job["spec"]["suspend"]]
    assert max(ledger.most.values()) > NOMINAL_CPU, "no queue ever borrowed"
    wait_nothing_held(space.api, space.namespace, queues.names)

    for name in names(jobs):
        space.api.delete("Job", name, space.namespace)
    for kind in ("Job", "Workload"):
        space.api.wait(
            kind, lambda left: not left, namespace=space.namespace, what=f"no {kind} left"
        )
