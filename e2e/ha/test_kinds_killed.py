"""Leaders are killed at random moments while objects of all kinds come, are preempted and end."""

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from decimal import Decimal

import pytest

from e2e import described
from e2e.actors import RUNTIME, acting
from e2e.api import holds
from e2e.cluster import Cluster
from e2e.contended import make_contended_queue
from e2e.described import kind_name, seen
from e2e.ha.history import Audit, History
from e2e.ha.replicas import SHORT_LEASE, epoch_of, wait_leader
from e2e.ha.users_of_kinds import Users, owners_of
from e2e.kinds_in_use import GANG, GROUP, USES, runtime_of
from e2e.objects import Pods
from e2e.product import Controller
from e2e.quota import Ledger, amount, wait_nothing_held
from e2e.serving_kinds import GATE, groups_played
from e2e.wire import Object
from e2e.world import World
from queueing.kinds.registry import POD, QUEUED
from tests.kinds.rows import ROWS

KILLS = int(os.environ.get("QUEUEING_E2E_KILLS", "6"))
"""How many leaders are killed; 50 is a long run, of a quarter of an hour."""
LONGEST_S = 3.0
"""A leader lives for at most so long after users have acted."""
STALL_S = 120.0
"""Objects in flight run for seconds, and there are never more than one of each kind: when nobody
has ended for so long, somebody is lost."""
HALF_S = 45.0
"""A start or end of a gang that two takeovers interrupt, on a machine under load."""
WATCHED_S = 10.0
"""What is gone is told to those who follow it within so long."""
TOO_MANY_S = 15.0
"""Controllers of others tell of their pods within so long; before, quota may be free too early."""
CPU = "12"
SETTINGS = {
    **SHORT_LEASE,
    "integrations": {"frameworks": sorted({*QUEUED, POD})},
    "featureGates": {"SparkApplicationIntegration": True},
}
SUSPENDED = [row for row in ROWS if row.stopped_by == "suspension"]
PLAYED = [kind_name(row) for row in SUSPENDED if row.framework != "batch/job"]
MANAGED = "kueue.x-k8s.io/managed"
Launch = Callable[..., Controller]


@pytest.fixture
def kinds(installed: Cluster) -> Iterator[None]:
    """Have definitions of all kinds."""
    with described.served(installed.api()):
        yield


class Over:
    """For how long something was so that may be so for a moment only."""

    def __init__(self) -> None:
        self._longest_s = 0.0
        self._since: dict[str, float] = {}
        self._told = threading.Condition()

    def tell(self, what: str, *, holds_now: bool) -> None:
        now = time.monotonic()
        with self._told:
            if holds_now:
                self._since.setdefault(what, now)
            elif what in self._since:
                self._longest_s = max(self._longest_s, now - self._since.pop(what))
                self._told.notify_all()

    def longest_s(self) -> float:
        """Return for how long it was so at most, once of nothing is it so any more."""
        with self._told:
            ended = self._told.wait_for(lambda: not self._since, WATCHED_S)
            now = time.monotonic()
            still = {what: round(now - since, 1) for what, since in self._since.items()}
            assert ended, f"it is so to the end, for seconds: {still}"
            return self._longest_s


class PodsOnNodes:
    """Follows each version of the pods: those that run ask for no more than there is quota."""

    def __init__(self) -> None:
        self.over, self.most = Over(), Decimal(0)
        self._asked: dict[str, Decimal] = {}

    def take(self, event: Object) -> None:
        pod = event["object"]
        name, gone = pod["metadata"]["name"], event["type"] == "DELETED"
        self._asked.pop(name, None)
        if not gone and pod["spec"].get("nodeName") and is_alive(pod):
            self._asked[name] = sum(
                (
                    amount(one.get("resources", {}).get("requests", {}).get("cpu", "0"))
                    for one in pod["spec"]["containers"]
                ),
                Decimal(0),
            )
        total = sum(self._asked.values(), Decimal(0))
        self.most = max(self.most, total)
        self.over.tell("pods on nodes", holds_now=total > amount(CPU))


def is_alive(pod: Object) -> bool:
    ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
    return not (ended or pod["metadata"].get("deletionTimestamp"))


class Halves:
    """Follows the members of gangs: one that is started in part is completed, or undone."""

    def __init__(self) -> None:
        self.over = Over()
        self._suspended: dict[str, dict[str, bool]] = {}
        self._guard = threading.Lock()

    def take(self, event: Object) -> None:
        item = event["object"]
        gang = (item["metadata"].get("labels") or {}).get(GANG)
        if gang is None or item["metadata"].get("ownerReferences"):
            return
        ended = any(holds(item, one) for one in ("Complete", "Completed", "Failed"))
        with self._guard:
            members = self._suspended.setdefault(gang, {})
            if ended or event["type"] == "DELETED":
                members.pop(item["metadata"]["name"], None)
            else:
                members[item["metadata"]["name"]] = bool(item["spec"].get("suspend"))
            self.over.tell(gang, holds_now=len(set(members.values())) > 1)


@contextmanager
def following(
    cluster: Cluster, space: World, takers: Mapping[str, Callable[[Object], None]]
) -> Iterator[list[History]]:
    """Follow each version of some kinds."""
    followers = [
        History(cluster.api(), kind, space.namespace, take) for kind, take in takers.items()
    ]
    with ExitStack() as stack:
        for one in followers:
            stack.enter_context(one)
        yield followers
        for one in followers:
            one.end()


def assert_none_runs_unadmitted(space: World) -> None:
    """See it of all objects and pods while nobody can write; what is owned follows its owner."""
    found = space.api.items("Workload", space.namespace)
    admitted = {uid for one in found if holds(one, "Admitted") for uid in owners_of(one)}
    named = {one["metadata"]["name"] for one in found if holds(one, "Admitted")}
    astray = [
        f"{kind_name(row)} {one['metadata']['name']}"
        for row in SUSPENDED
        for one in space.api.items(kind_name(row), space.namespace)
        if not one["metadata"].get("ownerReferences")
        and one["metadata"]["uid"] not in admitted
        and not seen(row, one).suspended
        and seen(row, one).ended is None
    ]
    astray += [
        f"Pod {one['metadata']['name']}"
        for one in space.api.items("Pod", space.namespace, labels=f"{MANAGED}=true")
        if is_alive(one)
        and not any(gate["name"] == GATE for gate in one["spec"].get("schedulingGates", ()))
        and one["metadata"]["uid"] not in admitted
        and one["metadata"]["labels"].get(GROUP) not in named
    ]
    assert not astray, f"running unadmitted: {astray}"


def test_killed_leaders_leave_no_half_start_and_lose_nothing_of_any_kind(
    space: World, installed: Cluster, controllers: Launch, kinds: None
) -> None:
    dice = random.Random(2026)
    replicas = [controllers("one", SETTINGS), controllers("two", SETTINGS)]
    wait_leader(installed, replicas)
    make_contended_queue(space, {"cpu": CPU, "memory": "1000Gi"})
    runtime = runtime_of(Pods(cpu="500m", run_s=2.0))
    space.api.apply(runtime)
    users, pods, halves = Users(space, 2026), PodsOnNodes(), Halves()
    ledger = Ledger({(frozenset({space.name("cq")}), "cpu"): CPU})
    followed: Mapping[str, Callable[[Object], None]] = {
        "Pod": pods.take,
        "Job": halves.take,
        "JobSet": halves.take,
    }
    with (
        Audit(installed, space.namespace, ledger) as audit,
        following(installed, space, followed) as followers,
        acting(space, *PLAYED, runtime=runtime),
        groups_played(installed.api(), space.namespace),
    ):
        for kill in range(KILLS):
            users.act()
            time.sleep(dice.uniform(0.0, LONGEST_S))
            leader, epoch = wait_leader(installed, replicas), epoch_of(installed)
            (other,) = (one for one in replicas if one is not leader)
            other.freeze()
            leader.kill()
            assert_none_runs_unadmitted(space)
            other.thaw()
            replicas.remove(leader)
            replicas.append(controllers(f"after-{kill}", SETTINGS))
            wait_leader(installed, replicas, after=epoch)
            users.look()
            print(f"kill {kill}: ended {users.ended.total()}, in flight {users.left}")
        drain(users)
        assert users.ended.keys() == USES.keys(), "of each kind one ended well, or served"
        wait_nothing_left(space)
        over_s, half_s = pods.over.longest_s(), halves.over.longest_s()
        audit.check()
        for one in followers:
            one.check()
    space.api.delete(RUNTIME, runtime["metadata"]["name"])
    print(
        f"{KILLS} leaders killed; ended {dict(users.ended)}; scaled {dict(users.scaled)};"
        f" {users.replaced} pods of groups replaced; {len(audit.stopped)} Jobs stopped;"
        f" at most {pods.most} cpu on nodes, for {over_s:.1f} s more than {CPU};"
        f" gangs in part for {half_s:.1f} s"
    )
    assert over_s < TOO_MANY_S
    assert half_s < HALF_S


def drain(users: Users) -> None:
    """Wait until nobody is in flight; meanwhile somebody always ends.

    What serves ends when its pods have been seen to run.
    """
    left, since = users.left, time.monotonic()
    while left:
        assert time.monotonic() - since < STALL_S, f"nobody ends: {left}"
        time.sleep(1.0)
        users.look()
        users.stop_serving()
        if users.left != left:
            left, since = users.left, time.monotonic()


def wait_nothing_left(space: World) -> None:
    """See that what was deleted goes: nothing of ours keeps it, and no quota is held."""
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    for kind in (*PLAYED, "Deployment", "StatefulSet", "Job", "Pod", "Workload"):
        space.api.wait(
            kind, lambda left: not left, namespace=space.namespace, what=f"no {kind} left"
        )
