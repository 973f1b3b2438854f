"""A random life of a tree of queues, in which leaders fail while they preempt."""

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
WAIT_S = 10.0
"""For a preemption: who leads dies without one if there is none."""
HALF_S = 45.0
"""A start or end of a gang that two takeovers interrupt, on a machine under load."""
SILENCE_S = 6.0
"""For longer than their Lease the replicas hear nothing of the API server."""
Launch = Callable[..., Controller]


class Leaders:
    """Two replicas of which the leader fails at a preemption, and is replaced if it is dead."""

    def __init__(self, cluster: Cluster, launch: Launch, settings: Mapping[str, Any]) -> None:
        self._cluster = cluster
        self._launch = launch
        self._settings = settings
        self._replicas = [launch("one", settings), launch("two", settings)]
        wait_leader(cluster, self._replicas)

    def die(self) -> None:
        """Kill who leads, and wait until the other one does."""
        leader, epoch = self._leader()
        leader.kill()
        self._replace(leader, epoch)

    def overlap(self) -> None:
        """Freeze who leads until the other one does, and let it go on where it was."""
        leader, epoch = self._leader()
        leader.freeze()
        others = [one for one in self._replicas if one is not leader]
        wait_leader(self._cluster, others, after=epoch)
        leader.thaw()

    def die_in_silence(self) -> None:
        """Kill who leads while the API server stands still, for longer than the Lease."""
        server = self._cluster.components.get("kube-apiserver")
        if server is None:  # that of somebody else's cluster is not ours to stop
            self.die()
            return
        leader, epoch = self._leader()
        server.suspend()
        try:
            leader.kill()
            time.sleep(SILENCE_S)
        finally:
            server.resume()
        self._replace(leader, epoch)

    def _leader(self) -> tuple[Controller, int]:
        """Return who leads, and in which term."""
        return wait_leader(self._cluster, self._replicas), epoch_of(self._cluster)

    def _replace(self, dead: Controller, epoch: int) -> None:
        self._replicas.remove(dead)
        self._replicas.append(self._launch(f"after-{epoch}", self._settings))
        wait_leader(self._cluster, self._replicas, after=epoch)


def test_whatever_users_do_while_leaders_fail_nothing_is_over_admitted_or_lost(
    space: World, installed: Cluster, controllers: Launch
) -> None:
    leaders = Leaders(installed, controllers, SHORT_LEASE)
    troubles = (leaders.die, leaders.overlap, leaders.die_in_silence)
    with Facts(space) as facts:
        life = Life(space, 2026, facts)
        life.begin()
        in_midst = 0
        for trouble in troubles:
            for _ in range(ACTS // len(troubles)):
                life.act()
                time.sleep(PAUSE_S)
            facts.preempted.clear()
            life.press()
            in_midst += facts.preempted.wait(WAIT_S)
            trouble()
        life.end()
        wait_complete(space, count=life.count)
        wait_nothing_held(space.api, space.namespace, life.queues)
        facts.check()
    print(
        f"{life.count} Jobs, {facts.reservations} reservations,"
        f" {len(troubles)} leaders failed, {in_midst} of them at a preemption"
    )
    assert facts.longest_half < HALF_S
