"""A random life of a tree of queues: what teams and administrators do, and what must hold then.

Everything is chosen by a seed. What comes of it also depends on how fast the machine is.
"""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Self

from e2e.api import condition, holds, key_of
from e2e.ha.history import History
from e2e.ha.quota_tree import ZERO, Node, QuotaTree
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    cohort,
    flavor,
    job,
    local_queue,
    within,
    workload_priority,
)
from e2e.quota import charge_by_flavor, holds_quota
from e2e.wire import ApiError, Object
from e2e.world import World

GANG = "queueing.dev/gang"
GANG_SIZE = "queueing.dev/gang-size"
PARENTS = ("left", "left", "right", "all")
LEVELS = {"low": -10, "high": 1000}
FLAVORS = ("first", "second")
ROOM = "40"
"""Enough CPUs of each flavor for whoever is left at the end."""
EDIT_S = 15.0
"""A decision under way when quotas were edited is written by then, or never."""
TOO_LATE = frozenset({403, 404, 422})
"""Answers to changes of what is gone, or has started, meanwhile."""
CHOICES_OF_PREEMPTION = {
    "withinClusterQueue": ("LowerPriority", "LowerOrNewerEqualPriority"),
    "reclaimWithinCohort": ("Any", "LowerPriority"),
}


@dataclass(slots=True)
class Facts:
    """Follows each version of what is in a test's namespace, and finds what must never be."""

    space: World
    problems: list[str] = field(default_factory=list)
    reservations: int = 0
    preempted: threading.Event = field(default_factory=threading.Event)
    """Set when somebody is told to make way."""
    longest_half: float = 0.0
    """For how many seconds a gang was seen partly suspended."""
    _trees: list[tuple[float, QuotaTree]] = field(default_factory=list)
    _held: defaultdict[tuple[str, str, str], Decimal] = field(
        default_factory=lambda: defaultdict(Decimal)
    )
    _charges: dict[str, dict[tuple[str, str, str], Decimal]] = field(default_factory=dict)
    _suspended: defaultdict[str, dict[str, bool]] = field(default_factory=lambda: defaultdict(dict))
    _half_since: dict[str, float] = field(default_factory=dict)
    _followers: list[History] = field(default_factory=list)

    def __enter__(self) -> Self:
        for kind, take in (("Workload", self._workload), ("Job", self._job)):
            follower = History(self.space.cluster.api(), kind, self.space.namespace, take)
            self._followers.append(follower.__enter__())
        return self

    def __exit__(self, *error: object) -> None:
        for follower in self._followers:
            follower.end()
        for follower in self._followers:
            follower.__exit__(*error)

    def quotas_are(self, tree: QuotaTree) -> None:
        """Hear that from now on these quotas hold."""
        self._trees.append((time.monotonic(), tree))

    def check(self) -> None:
        """Raise what was found so far."""
        for follower in self._followers:
            follower.check()
        assert not self.problems, "\n".join(self.problems)
        assert not self._half_since, f"partly suspended: {sorted(self._half_since)}"

    def _workload(self, event: Object) -> None:
        item = event["object"]
        key = key_of(item)
        before = self._charges.pop(key, {})
        for place, value in before.items():
            self._held[place] -= value
        if event["type"] == "DELETED" or not holds_quota(item):
            return
        if holds(item, "Evicted") and condition(item, "Evicted")["reason"] == "Preempted":
            self.preempted.set()
        charge = self._charges[key] = charge_by_flavor(item)
        if any(value > before.get(place, ZERO) for place, value in charge.items()):
            self.reservations += 1
            self._judge(key, charge)
        for place, value in charge.items():
            self._held[place] += value

    def _judge(self, key: str, charge: dict[tuple[str, str, str], Decimal]) -> None:
        """See that what is newly held was available, by the quotas of now or of just before."""
        since = time.monotonic() - EDIT_S
        later = [at for at, _ in self._trees[1:]] + [float("inf")]
        trees = [tree for (_, tree), until in zip(self._trees, later, strict=True) if until > since]
        if not any(
            all(
                value <= tree.available(queue, (flavor, resource), self._held)
                for (queue, flavor, resource), value in charge.items()
            )
            for tree in trees
        ):
            held = {place: str(value) for place, value in self._held.items() if value}
            self.problems.append(f"{key} took {charge} beside {held}")

    def _job(self, event: Object) -> None:
        item = event["object"]
        gang = item["metadata"].get("labels", {}).get(GANG)
        if not gang:
            return
        over = holds(item, "Complete") or holds(item, "Failed")
        members = self._suspended[gang]
        if over or event["type"] == "DELETED":
            members.pop(key_of(item), None)
        else:
            members[key_of(item)] = bool(item["spec"].get("suspend"))
        now = time.monotonic()
        if len(set(members.values())) > 1:
            self._half_since.setdefault(gang, now)
        elif gang in self._half_since:
            self.longest_half = max(self.longest_half, now - self._half_since.pop(gang))


class Life:
    """Four queues in a tree of three cohorts, whose users do anything at any time."""

    def __init__(self, space: World, seed: int, facts: Facts) -> None:
        self.space = space
        self.facts = facts
        self._random = random.Random(seed)
        self._queues: dict[str, Object] = {}
        self._jobs: list[str] = []
        self.count = 0
        """Of all Jobs that came."""
        acts: list[tuple[Callable[[], None], int]] = [
            (self._submit, 30),
            (self._submit_urgent, 8),
            (self._submit_gang, 6),
            (self._edit_quota, 5),
            (self._stop_or_resume, 4),
            (self._change_priority, 4),
            (self._deactivate, 3),
        ]
        self._acts, self._weights = zip(*acts, strict=True)

    @property
    def queues(self) -> list[str]:
        """The names of all ClusterQueues."""
        return list(self._queues)

    def begin(self) -> None:
        """Make the tree."""
        space, dice = self.space, self._random
        space.make(*(flavor(space.name(one)) for one in FLAVORS))
        space.make(*(workload_priority(space.name(one), value) for one, value in LEVELS.items()))
        space.make(
            cohort(space.name("all")),
            *(cohort(space.name(one), parentName=space.name("all")) for one in ("left", "right")),
        )
        for number, parent in enumerate(PARENTS):
            limits = {"borrow": dice.choice(("", "2")), "lend": dice.choice(("", "1"))}
            name = space.name(f"queue-{number}")
            item = cluster_queue(
                name,
                {
                    space.name("first"): {"cpu": within(str(dice.randint(2, 4)), **limits)},
                    space.name("second"): {"cpu": within(str(dice.randint(0, 2)))},
                },
                cohort=space.name(parent),
                preemption={
                    what: dice.choice(choices) for what, choices in CHOICES_OF_PREEMPTION.items()
                },
            )
            self._queues[name] = item
            space.make(item, local_queue(space.namespace, f"team-{number}", name))
        self._tell_quotas()

    def act(self) -> None:
        """Do one thing."""
        (chosen,) = self._random.choices(self._acts, self._weights)
        try:
            chosen()
        except ApiError as error:
            if error.status not in TOO_LATE:
                raise

    def press(self) -> None:
        """Have somebody in each queue be in a hurry, so that others must make way."""
        for number in range(len(PARENTS)):
            self._submit_urgent(f"team-{number}")

    def end(self) -> None:
        """Let nothing stand in the way of anybody any more."""
        api = self.space.api
        for name in self._queues:
            api.patch("ClusterQueue", name, {"spec": {"stopPolicy": "None"}})
            for number in range(len(FLAVORS)):
                self._set_quota(name, number, ROOM)
        for one in api.items("Workload", self.space.namespace):
            if not one["spec"].get("active", True):
                self._activate(one["metadata"]["name"], active=True)

    def _submit(self) -> None:
        dice = self._random
        level = dice.choice((None, None, "low", "high"))
        self._create(
            job(
                self.space.namespace,
                f"job-{self.count}",
                queue=self._team(),
                parallelism=dice.randint(1, 4),
                labels={PRIORITY_CLASS: self.space.name(level)} if level else {},
                pods=self._pods(),
            )
        )

    def _submit_urgent(self, team: str = "") -> None:
        self._create(
            job(
                self.space.namespace,
                f"urgent-{self.count}",
                queue=team or self._team(),
                parallelism=self._random.randint(2, 4),
                labels={PRIORITY_CLASS: self.space.name("high")},
                pods=self._pods(),
            )
        )

    def _submit_gang(self) -> None:
        gang, team, size = f"gang-{self.count}", self._team(), self._random.randint(2, 3)
        for number in range(size):
            made = job(
                self.space.namespace,
                f"{gang}-{number}",
                queue=team,
                labels={GANG: gang},
                pods=Pods(cpu="1", run_s=2.0),
            )
            made["metadata"]["annotations"] = {GANG_SIZE: str(size)}
            self._create(made)

    def _edit_quota(self) -> None:
        name = self._random.choice(self.queues)
        self._set_quota(name, self._random.randrange(len(FLAVORS)), str(self._random.randint(0, 6)))

    def _stop_or_resume(self) -> None:
        policy = self._random.choice(("None", "None", "Hold", "HoldAndDrain"))
        name = self._random.choice(self.queues)
        self.space.api.patch("ClusterQueue", name, {"spec": {"stopPolicy": policy}})

    def _change_priority(self) -> None:
        if not self._jobs:
            return
        label = {PRIORITY_CLASS: self.space.name(self._random.choice(list(LEVELS)))}
        change = {"metadata": {"labels": label}}
        name = self._random.choice(self._jobs)
        self.space.api.patch("Job", name, change, namespace=self.space.namespace)

    def _deactivate(self) -> None:
        found = self.space.api.items("Workload", self.space.namespace)
        if found:
            chosen = self._random.choice(found)
            self._activate(
                chosen["metadata"]["name"], active=not chosen["spec"].get("active", True)
            )

    def _activate(self, name: str, *, active: bool) -> None:
        change = {"spec": {"active": active}}
        self.space.api.patch("Workload", name, change, namespace=self.space.namespace)

    def _create(self, made: Object) -> None:
        self.space.make(made)
        self.count += 1
        if GANG not in made["metadata"]["labels"]:
            self._jobs.append(made["metadata"]["name"])

    def _team(self) -> str:
        return f"team-{self._random.randrange(len(PARENTS))}"

    def _pods(self) -> Pods:
        dice = self._random
        return Pods(
            cpu=dice.choice(("500m", "1", "1", "2")),
            run_s=dice.choice((2.0, 5.0, 10.0)),
            drain_s=dice.choice((None, None, 1.0)),
        )

    def _set_quota(self, name: str, number: int, nominal: str) -> None:
        place = f"/spec/resourceGroups/0/flavors/{number}/resources/0/nominalQuota"
        change = [{"op": "replace", "path": place, "value": nominal}]
        self._queues[name] = self.space.api.patch("ClusterQueue", name, change)
        self._tell_quotas()

    def _tell_quotas(self) -> None:
        name = self.space.name
        nodes = {
            name("all"): Node("", {}),
            **{name(one): Node(name("all"), {}) for one in ("left", "right")},
            **{queue: Node.read(item) for queue, item in self._queues.items()},
        }
        self.facts.quotas_are(QuotaTree(nodes))
