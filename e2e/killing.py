"""The product killed between two of its writes, and its successor that must finish the work."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from e2e import identities, product
from e2e.api import holds
from e2e.cluster import Cluster
from e2e.gate import Gate
from e2e.product import LEASE, Controller
from e2e.world import World

WAIT_S = 120.0


@contextmanager
def replica(gate: Gate, cluster: Cluster) -> Iterator[Controller]:
    """Run a controller that reaches the server through the gate; its predecessor left no Lease."""
    cluster.api().delete("Lease", LEASE, identities.CONTROLLER_NAMESPACE)
    name = f"gated-{secrets.token_hex(2)}"
    started = product.start(cluster, name, kubeconfig=gate.kubeconfig)
    try:
        started.wait_ready()
        yield started
    finally:
        started.stop()


def finishes_through_a_kill(
    space: World,
    gate: Gate,
    act: Callable[[], None],
    done: Callable[[], bool],
    *,
    after: int | None,
    counted: str,
) -> bool:
    """Act, kill the controller instead of its next write but so many, and see the next one finish.

    `counted` is the pattern of the paths of its writes. Returns False when all was done without
    that write.
    """
    with replica(gate, space.cluster) as first:
        if after is not None:
            gate.hold_after(after, counted)
        act()
        if after is None:
            wait_until(done)
            return False
        wait_until(lambda: gate.held.is_set() or done())
        if not gate.held.is_set():
            gate.lift()
            return False
        first.kill()
        gate.lift()
        assert_none_runs_unadmitted(space)
    with replica(gate, space.cluster):
        wait_until(done)
    return True


def wait_until(holds_now: Callable[[], bool]) -> None:
    """Wait for something that no single watch can tell."""
    deadline = time.monotonic() + WAIT_S
    while not holds_now():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.2)


def assert_none_runs_unadmitted(space: World) -> None:
    """Nobody writes at this moment, so that two lists show one state."""
    admitted = {
        owner["uid"]
        for one in space.api.items("Workload", space.namespace)
        if holds(one, "Admitted")
        for owner in one["metadata"].get("ownerReferences", [])
    }
    for one in space.api.items("Job", space.namespace):
        assert one["spec"]["suspend"] or one["metadata"]["uid"] in admitted
