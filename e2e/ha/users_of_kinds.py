"""What users of all kinds of jobs do at once: submit, scale, replace what they lost, delete.

One object of each kind is in flight at most, so that what is left at any moment ends soon.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from e2e.actors import OVER, RAY_JOB
from e2e.api import condition, holds
from e2e.kinds_in_use import GROUP, MEMBERS, USES, Use, create, create_part
from e2e.objects import Pods
from e2e.wire import ApiError, Object
from e2e.world import World
from queueing.translate.jobs.slices import OUT_OF_SYNC, REPLACED

GONE = frozenset({403, 404, 409, 422})
"""Answers to changes of what is gone, has ended, or is being scaled down, meanwhile."""
OFTEN = 0.5
"""So often what can change its size does, each time that users act."""


@dataclass(slots=True)
class InFlight:
    """The objects of a kind that users wait for."""

    name: str
    made: list[Object]
    left_acts: int
    """So often users act before they delete what serves."""
    has_run: bool = False
    """Whether pods of it were seen to run."""

    @property
    def uids(self) -> set[str]:
        return {one["metadata"]["uid"] for one in self.made}


class Users:
    """Have one object of each kind in flight, or a gang or group of some."""

    def __init__(self, space: World, seed: int) -> None:
        self._space, self._dice = space, random.Random(seed)
        self._in_flight: dict[str, InFlight] = {}
        self._number = 0
        self.ended: Counter[str] = Counter()
        """How many of each came to a good end."""
        self.scaled: Counter[str] = Counter()
        self.replaced = 0
        """Pods of groups that users made in place of preempted ones."""

    @property
    def left(self) -> Sequence[str]:
        """The names of what is in flight."""
        return sorted(one.name for one in self._in_flight.values())

    def act(self) -> None:
        """Submit what is not in flight, and change the size of what can change it."""
        self.look()
        for named, use in USES.items():
            there = self._in_flight.get(named)
            if there is None:
                self._submit(named, use)
                continue
            there.left_acts -= 1
            if use.serves and there.has_run and there.left_acts <= 0:
                self._delete(named)
            elif self._dice.random() < OFTEN:
                self._scale(named, use, there)

    def stop_serving(self) -> None:
        """Delete what would never end, once it has run."""
        for named, there in list(self._in_flight.items()):
            if USES[named].serves and there.has_run:
                self._delete(named)

    def look(self) -> None:
        """Delete what has ended; replace pods of a group that were preempted."""
        workloads = self._space.api.items("Workload", self._space.namespace)
        running = [
            one["metadata"]["name"]
            for one in self._space.api.items("Pod", self._space.namespace)
            if one["status"].get("phase") == "Running"
        ]
        for there in self._in_flight.values():
            there.has_run |= any(one.startswith(f"{there.name}-") for one in running)
        for named, there in list(self._in_flight.items()):
            mine = [one for one in workloads if owners_of(one) & there.uids]
            if not USES[named].serves and mine and all(holds(one, "Finished") for one in mine):
                reasons = {condition(one, "Finished")["reason"] for one in mine}
                assert "Succeeded" in reasons, (there.name, reasons)
                # A slice that waits is wanted no more when its job shrinks, or is evicted.
                assert reasons <= {"Succeeded", REPLACED, OUT_OF_SYNC}, (there.name, reasons)
                self._delete(named)
            elif named == "ray":
                self._end_ray(there)
            elif named == "group":
                self._replace_lost(there)

    def _submit(self, named: str, use: Use) -> None:
        self._number += 1
        name, pods = f"{named}-{self._number}", Pods(cpu="500m", run_s=self._dice.choice((1, 3)))
        made = create(self._space, use, name, pods)
        self._in_flight[named] = InFlight(name, made, self._dice.randint(3, 6))

    def _scale(self, named: str, use: Use, there: InFlight) -> None:
        if use.scaling is None:
            return
        # What has not run yet is not scaled to nothing: it would never run.
        sizes = [size for size, pods in use.scaling.sizes.items() if pods or there.has_run]
        change, (made,) = use.scaling.patch(self._dice.choice(sizes)), there.made
        if self._patch(use.kind, made, change):
            self.scaled[named] += 1

    def _end_ray(self, there: InFlight) -> None:
        """Let the entry point of a RayJob whose cluster is ready end."""
        (made,) = there.made
        found = self._space.api.get(RAY_JOB, made["metadata"]["name"], self._space.namespace)
        cluster = found.get("status", {}).get("rayClusterStatus", {})
        if cluster.get("state") == "ready" and not found["spec"].get("suspend"):
            self._patch(RAY_JOB, made, {"metadata": {"annotations": {OVER: "Succeeded"}}})

    def _replace_lost(self, there: InFlight) -> None:
        """Make a pod for each of a group that is gone, or going before it has succeeded."""
        use, pods, space = USES["group"], Pods(cpu="500m", run_s=1), self._space
        found = space.api.items("Pod", space.namespace, labels=f"{GROUP}={there.name}")
        kept = [
            one
            for one in found
            if one["status"]["phase"] == "Succeeded"
            or not (one["metadata"].get("deletionTimestamp") or one["status"]["phase"] == "Failed")
        ]
        for _ in range(MEMBERS - len(kept)):
            self.replaced += 1
            name = f"{there.name}-again-{self.replaced}"
            made = create_part(space, use, name, there.name, pods)
            there.made.append(made)

    def _delete(self, named: str) -> None:
        there = self._in_flight.pop(named)
        for one in there.made:
            kind, name = f"{one['apiVersion']}/{one['kind']}", one["metadata"]["name"]
            self._space.api.delete(kind, name, self._space.namespace)
        self.ended[named] += 1

    def _patch(self, kind: str, one: Object, change: object) -> bool:
        try:
            name = one["metadata"]["name"]
            self._space.api.patch(kind, name, change, namespace=self._space.namespace)
        except ApiError as error:
            if error.status not in GONE:
                raise
            return False
        return True


def owners_of(workload: Object) -> set[str]:
    """Return the UIDs of the objects that a Workload is of."""
    owners = workload["metadata"].get("ownerReferences", ())
    return {one["uid"] for one in owners}
