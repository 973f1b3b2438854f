"""Who owns whom is queued once, in the topmost managed owner."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from queueing.kinds.owners import (
    CyclicOwnersError,
    OwnerGoneError,
    OwnersError,
    TooDeepError,
    ancestor_of,
)
from queueing.kinds.registry import LOOKED_THROUGH
from queueing.translate.wire.meta import Identified, Meta, OwnerReference

GROUPS = {kind: group for group, kind in LOOKED_THROUGH} | {"CronJob": "batch"}
Find = Callable[[OwnerReference], Identified | None]


@dataclass(frozen=True)
class Chain:
    """Kinds from an object upwards; those in capitals of `queued` have a queue."""

    kinds: tuple[str, ...]
    queued: tuple[str, ...]

    def topmost(self) -> str | None:
        owners = self.kinds[1:]
        metas = {
            kind: Meta(name=kind, uid=f"uid-{kind}", owner_references=self.above(at + 1))
            for at, kind in enumerate(owners)
        }
        found = walk(
            Meta(name="thing", uid="uid-thing", owner_references=self.above(0)),
            lambda one: Identified(metadata=metas[one.kind]),
            lambda one: one.metadata.name in self.queued,
        )
        return None if found is None else found.metadata.name

    def above(self, at: int) -> list[OwnerReference]:
        if at + 1 >= len(self.kinds):
            return []
        kind = self.kinds[at + 1]
        return [reference(kind)]


def walk(
    thing: Meta, find: Find, is_queued: Callable[[Identified], bool] = lambda _: True
) -> Identified | None:
    return ancestor_of(thing, LOOKED_THROUGH, find, is_queued)


def reference(kind: str, *, uid: str = "") -> OwnerReference:
    version = f"{GROUPS.get(kind, 'example.com')}/v1"
    return OwnerReference(
        api_version=version, kind=kind, name=kind, uid=uid or f"uid-{kind}", controller=True
    )


CHAINS = [
    (("Job", "JobSet", "TrainJob"), ("TrainJob",), "TrainJob"),
    (("Pod", "RayCluster", "RayJob"), ("RayJob",), "RayJob"),
    (("Pod", "Job", "AppWrapper"), ("Job", "AppWrapper"), "AppWrapper"),
    (("Pod", "ReplicaSet", "Deployment"), ("Deployment",), "Deployment"),
    (("Job", "JobSet"), (), None),
    (("Job", "CronJob"), ("CronJob",), None),
    (("Pod", "Job", "CronJob"), ("Job",), "Job"),
    (("Pod", "Strange", "AppWrapper"), ("AppWrapper",), None),
    (("Job",), (), None),
]


@pytest.mark.parametrize(("kinds", "queued", "topmost"), CHAINS)
def test_the_topmost_queued_owner_is_charged(
    kinds: tuple[str, ...], queued: tuple[str, ...], topmost: str | None
) -> None:
    assert Chain(kinds, queued).topmost() == topmost


def test_an_owner_is_known_by_group_and_kind_in_whatever_version() -> None:
    later = OwnerReference(
        api_version="jobset.x-k8s.io/v9", kind="JobSet", name="s", uid="s", controller=True
    )
    found = walk(
        Meta(name="thing", uid="u", owner_references=[later]),
        lambda one: Identified(metadata=Meta(name=one.name, uid=one.uid)),
    )
    assert found is not None


def test_an_owner_that_is_gone_is_an_error_and_no_permission_to_run() -> None:
    def gone(one: OwnerReference) -> Identified | None:
        raise OwnerGoneError(one)

    thing = Meta(name="thing", uid="u", owner_references=[reference("JobSet")])
    with pytest.raises(OwnersError, match="workload owner not found: JobSet JobSet"):
        walk(thing, gone)


def test_the_walk_ends_where_a_reference_means_nothing_any_more() -> None:
    thing = Meta(name="thing", uid="u", owner_references=[reference("JobSet", uid="earlier")])
    assert walk(thing, lambda _: None) is None


def test_owners_in_a_circle_are_an_error() -> None:
    thing = Meta(name="thing", uid="uid-Job", owner_references=[reference("JobSet")])
    circle = {
        "JobSet": Meta(name="JobSet", uid="uid-JobSet", owner_references=[reference("Job")]),
        "Job": thing,
    }
    with pytest.raises(CyclicOwnersError):
        walk(thing, lambda one: Identified(metadata=circle[one.kind]), lambda _: False)


def test_more_than_ten_owners_are_too_deep() -> None:
    def find(one: OwnerReference) -> Identified:
        number = int(one.uid.removeprefix("uid-")) + 1
        above = [] if number > 11 else [reference("Job", uid=f"uid-{number}")]
        return Identified(metadata=Meta(name="Job", uid=one.uid, owner_references=above))

    deep = Meta(name="thing", uid="u", owner_references=[reference("Job", uid="uid-1")])
    with pytest.raises(TooDeepError, match="ancestor depth exceeded limit of 10"):
        walk(deep, find)
    less = Meta(name="thing", uid="u", owner_references=[reference("Job", uid="uid-2")])
    assert walk(less, find) is not None
