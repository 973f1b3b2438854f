"""Leader and standby: whoever dies, freezes or goes, the work is finished and nothing is held."""

from collections.abc import Callable

import pytest

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.controller.shapes import Cohorts
from e2e.identities import CONTROLLER_NAMESPACE
from e2e.jobs import wait_complete
from e2e.product import LEASE, Controller, leader
from e2e.quota import wait_nothing_held
from e2e.world import World

JOBS = 40


def wait_leader(cluster: Cluster, *, other_than: str = "") -> str:
    """Wait until somebody (else) holds the Lease, and return who."""
    lease = cluster.api().wait_one(
        "Lease",
        LEASE,
        lambda one: (one["spec"].get("holderIdentity") or "") not in {"", other_than},
        namespace=CONTROLLER_NAMESPACE,
        what=f"a leader other than {other_than!r}",
    )
    return str(lease["spec"]["holderIdentity"])


def wait_some_finished(space: World, count: int) -> None:
    space.api.wait(
        "Workload",
        lambda found: sum(holds(one, "Finished") for one in found) >= count,
        namespace=space.namespace,
        what=f"{count} Workloads finished",
    )


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Controller.kill, id="killed"),
        pytest.param(Controller.stop, id="stopped in good order"),
        pytest.param(Controller.freeze, id="frozen"),
    ],
)
def test_the_standby_finishes_the_work_of_a_leader_that_is(
    space: World, cluster: Cluster, controllers: Callable[..., Controller], fault: Callable
) -> None:
    first = controllers("first")
    holder = wait_leader(cluster)
    controllers("second")
    queues = Cohorts(space, cohorts=1, queues=3)
    queues.make()
    ledger = queues.ledger()
    for one in queues.jobs(JOBS):
        space.make(one)
    wait_some_finished(space, JOBS // 5)
    fault(first)
    wait_leader(cluster, other_than=holder)
    first.thaw()

    queues.wait_finished(JOBS, ledger)
    wait_complete(space, count=JOBS)
    wait_nothing_held(space.api, space.namespace, queues.names)


def test_a_lone_controller_that_is_killed_goes_on_where_it_was(
    space: World, cluster: Cluster, controllers: Callable[..., Controller]
) -> None:
    first = controllers("first")
    queues = Cohorts(space, cohorts=1, queues=2)
    queues.make()
    for one in queues.jobs(JOBS // 2):
        space.make(one)
    wait_some_finished(space, JOBS // 10)
    first.kill()
    assert leader(cluster)
    controllers("second")
    wait_complete(space, count=JOBS // 2)
    wait_nothing_held(space.api, space.namespace, queues.names)
