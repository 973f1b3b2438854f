"""A random life of a tree of queues, in which leaders die while they preempt."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from e2e.cluster import Cluster
from e2e.ha.random_life import Facts, Life
from e2e.ha.replicas import SHORT_LEASE, epoch_of, wait_leader
from e2e.jobs import wait_complete
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.world import World

ACTS = 80
PAUSE_S = 0.25
DEATHS = 2
WAIT_S = 10.0
"""For a preemption: who leads dies without one if there is none."""
HALF_S = 45.0
"""A start or end of a gang that two takeovers interrupt, on a machine under load."""
Launch = Callable[..., Controller]


class Leaders:
    """Two replicas of which the leader dies at a preemption, and is replaced."""

    def __init__(self, cluster: Cluster, launch: Launch, settings: Mapping[str, Any]) -> None:
        self._cluster = cluster
        self._launch = launch
        self._settings = settings
        self._replicas = [launch("one", settings), launch("two", settings)]
        wait_leader(cluster, self._replicas)

    def strike(self) -> None:
        """Kill who leads, and wait until the other one does."""
        leader, epoch = wait_leader(self._cluster, self._replicas), epoch_of(self._cluster)
        leader.kill()
        self._replicas.remove(leader)
        self._replicas.append(self._launch(f"after-{epoch}", self._settings))
        wait_leader(self._cluster, self._replicas, after=epoch)


def test_whatever_users_do_while_leaders_die_nothing_is_over_admitted_or_lost(
    space: World, installed: Cluster, controllers: Launch
) -> None:
    leaders = Leaders(installed, controllers, SHORT_LEASE)
    with Facts(space) as facts:
        life = Life(space, 2026, facts)
        life.begin()
        in_midst = 0
        for number in range(ACTS):
            life.act()
            time.sleep(PAUSE_S)
            if (number + 1) % (ACTS // DEATHS) == 0:
                facts.preempted.clear()
                life.press()
                in_midst += facts.preempted.wait(WAIT_S)
                leaders.strike()
        life.end()
        wait_complete(space, count=life.count)
        wait_nothing_held(space.api, space.namespace, life.queues)
        facts.check()
    print(
        f"{life.count} Jobs, {facts.reservations} reservations,"
        f" {DEATHS} leaders died, {in_midst} of them at a preemption"
    )
    assert facts.longest_half < HALF_S
