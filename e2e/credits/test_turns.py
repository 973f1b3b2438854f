"""Two teams, one pool that either could fill: credits let them take turns, whatever is killed."""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise
from math import log2
from typing import Any

import pytest

from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, cohort, credit_policy, flavor, job, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

Launch = Callable[..., Controller]
CORES = 4
PART = 2**32
SETTINGS: dict[str, Any] = {
    "leaderElection": {"leaderElect": False},
    "fairSharing": {
        "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    },
}
TURNS = 5
HYSTERESIS = 2
KILLS = 10
ROUNDED_S = 2
"""Both ends of a turn are told in whole seconds."""
BETWEEN_KILLS_S = 3.1
"""Not a multiple of anything: a kill may come at any moment of a turn."""
SLOW_START_S = 45.0
"""Most of the time goes into starting controllers: seconds each, on a busy machine many."""
SLOW_TURN_S = 24.0
"""A turn and what is written between two."""


def policy(space: World, *, horizon: str) -> Object:
    """Two that could fill a pool alone take turns of `horizon * log2(hysteresis)`."""
    return credit_policy(
        space.name("turns"),
        space.name("all"),
        halfLife="87600h",
        horizon=horizon,
        hysteresis=str(HYSTERESIS),
        usageRecords={},
    )


def two_teams(space: World, horizon: str) -> None:
    """Make a pool and two queues without quota of their own; each has a Job that fills the pool."""
    flavor_name, pool = space.name("any"), space.name("all")
    quota = {"name": "cpu", "nominalQuota": str(CORES)}
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": flavor_name, "resources": [quota]}],
    }
    space.make(
        flavor(flavor_name, nodeLabels=POOL),
        cohort(pool, resourceGroups=[group]),
        policy(space, horizon=horizon),
    )
    for team in ("red", "blue"):
        queue = cluster_queue(
            space.name(team),
            {flavor_name: {"cpu": "0"}},
            cohort=pool,
            preemption={"reclaimWithinCohort": "Any"},
        )
        space.make(queue, local_queue(space.namespace, team, space.name(team)))
    space.api.wait_one(
        "CreditAccount",
        pool,
        lambda one: len(one.get("status", {}).get("children", [])) == 2,
        timeout_s=60,
        what="an account of both teams",
    )
    for team in ("red", "blue"):
        space.make(job(space.namespace, team, queue=team, parallelism=CORES, pods=Pods(run_s=None)))


def seconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


class Stays:
    """Who held the pool from when to when, by every state that the watch shows."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[str, int | None]] = {}

    def __call__(self, workloads: Sequence[Object]) -> bool:
        """Note a state."""
        for one in workloads:
            conditions = {c["type"]: c for c in one.get("status", {}).get("conditions", [])}
            found = conditions.get("QuotaReserved")
            if found is None:
                continue
            uid, at = one["metadata"]["uid"], seconds(found["lastTransitionTime"])
            admission = one["status"].get("admission")
            if found["status"] == "True" and admission:
                self._known.setdefault((uid, at), (admission["clusterQueue"], None))
                continue
            for (other, since), (queue, until) in list(self._known.items()):
                if other == uid and until is None:
                    self._known[other, since] = queue, at
        return True

    def begun(self) -> list[int]:
        return sorted(since for _, since in self._known)

    def held(self, until: int) -> dict[str, int]:
        """Return for how many seconds each queue held the pool until a time."""
        sums: defaultdict[str, int] = defaultdict(int)
        for (_, since), (queue, end) in self._known.items():
            sums[queue] += max(0, min(until if end is None else end, until) - since)
        return dict(sums)


def test_two_teams_take_turns_of_the_length_that_the_policy_says(
    space: World, controllers: Launch
) -> None:
    controllers("quiet", SETTINGS)
    horizon_s = 20
    two_teams(space, f"{horizon_s}s")
    stays = Stays()
    space.api.wait(
        "Workload",
        lambda found: stays(found) and len(stays.begun()) > TURNS,
        namespace=space.namespace,
        timeout_s=horizon_s * TURNS * 4,
        what=f"{TURNS} turns",
    )
    lengths = [later - sooner for sooner, later in pairwise(stays.begun()[1:])]
    predicted = horizon_s * log2(HYSTERESIS)
    assert min(lengths) >= predicted - ROUNDED_S, (lengths, "nobody goes before its turn is over")
    assert sum(lengths) / len(lengths) == pytest.approx(predicted, rel=0.4), lengths


def test_killed_ten_times_the_ledger_says_to_the_second_who_held_the_pool(
    space: World, controllers: Launch
) -> None:
    running = controllers("first", SETTINGS)
    two_teams(space, "8s")
    done = threading.Event()

    def kill_again_and_again() -> int:
        nonlocal running
        kills = 0
        while kills < KILLS and not done.wait(BETWEEN_KILLS_S):
            running.kill()
            kills += 1
            running = controllers(f"again-{kills}", SETTINGS)
        return kills

    stays = Stays()
    with ThreadPoolExecutor(max_workers=1) as pool:
        killer = pool.submit(kill_again_and_again)
        try:
            space.api.wait(
                "Workload",
                lambda found: (
                    stays(found)
                    and killer.done()
                    and killer.result() == KILLS  # or raises why one did not start again
                    and len(stays.begun()) > TURNS
                ),
                namespace=space.namespace,
                timeout_s=KILLS * (BETWEEN_KILLS_S + SLOW_START_S) + TURNS * SLOW_TURN_S,
                what=f"{TURNS} turns and {KILLS} kills",
            )
        finally:
            done.set()
    running.stop()
    stays(space.api.items("Workload", space.namespace))
    account = space.api.get("CreditAccount", space.name("all"))["status"]
    as_of = seconds(account["asOf"])
    spent = {one["name"]: one["spent"] for one in account["children"]}
    held = {queue: CORES * lasted * 1_000_000 for queue, lasted in stays.held(as_of).items()}
    assert spent == held
    assert as_of >= stays.begun()[-2], "the last turn may have begun a moment before the end"
    whole = sum(one["microCredits"] * PART + one["remainder"] for one in account["children"])
    sunk = sum(one["microCredits"] * PART + one.get("remainder", 0) for one in account["sinks"])
    assert whole + sunk == 0
    records = [
        one
        for one in space.api.items("UsageRecord")
        if one["spec"]["root"]["name"] == space.name("all")
    ]
    told: defaultdict[str, int] = defaultdict(int)
    for row in (row for one in records for row in one["status"]["rows"]):
        told[row.get("clusterQueue", "")] += int(row.get("used", 0))
    counted_until = max(seconds(one["status"]["asOf"]) for one in records)
    held = {queue: CORES * lasted * 1000 for queue, lasted in stays.held(counted_until).items()}
    assert {queue: used for queue, used in told.items() if used} == held
