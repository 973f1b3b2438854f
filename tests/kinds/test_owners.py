"""Who owns whom is queued once, in the topmost managed owner."""

from dataclasses import dataclass

import pytest

from queueing.kinds.owners import (
    CyclicOwnersError,
    Owner,
    OwnerGoneError,
    TooDeepError,
    ancestor_of,
    takes_default_queue,
)
from queueing.kinds.registry import BUILT_IN, group_kind
from queueing.translate.wire.meta import Meta, OwnerReference

KNOWN = frozenset(map(group_kind, BUILT_IN))
GROUPS = {kind: group for group, kind in KNOWN} | {"ReplicaSet": "apps", "CronJob": "batch"}


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

        def find(reference: OwnerReference) -> Owner | None:
            kind = reference.kind
            return Owner(reference=reference, metadata=metas[kind], queued=kind in self.queued)

        start = Meta(name="thing", uid="uid-thing", owner_references=self.above(0))
        found = ancestor_of(start, KNOWN, find)
        return None if found is None else found.reference.kind

    def above(self, at: int) -> list[OwnerReference]:
        if at + 1 >= len(self.kinds):
            return []
        kind = self.kinds[at + 1]
        return [reference(kind)]


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


def test_an_owner_that_is_gone_is_an_error_and_no_permission_to_run() -> None:
    thing = Meta(name="thing", uid="u", owner_references=[reference("JobSet")])
    with pytest.raises(OwnerGoneError, match="workload owner not found"):
        ancestor_of(thing, KNOWN, lambda _: None)


def test_a_reference_to_an_earlier_life_of_a_name_ends_the_walk() -> None:
    thing = Meta(name="thing", uid="u", owner_references=[reference("JobSet", uid="earlier")])
    later = Meta(name="JobSet", uid="later")
    assert (
        ancestor_of(thing, KNOWN, lambda one: Owner(reference=one, metadata=later, queued=True))
        is None
    )


def test_owners_in_a_circle_are_an_error() -> None:
    thing = Meta(name="thing", uid="uid-Job", owner_references=[reference("JobSet")])
    circle = {
        "JobSet": Meta(name="JobSet", uid="uid-JobSet", owner_references=[reference("Job")]),
        "Job": thing,
    }
    with pytest.raises(CyclicOwnersError):
        ancestor_of(
            thing,
            KNOWN,
            lambda one: Owner(reference=one, metadata=circle[one.kind], queued=False),
        )


def test_more_than_ten_owners_are_too_deep() -> None:
    def find(one: OwnerReference) -> Owner:
        number = int(one.uid.removeprefix("uid-")) + 1
        above = [] if number > 11 else [reference("Job", uid=f"uid-{number}")]
        meta = Meta(name="Job", uid=one.uid, owner_references=above)
        return Owner(reference=one, metadata=meta, queued=True)

    deep = Meta(name="thing", uid="u", owner_references=[reference("Job", uid="uid-1")])
    with pytest.raises(TooDeepError, match="ancestor depth exceeded limit of 10"):
        ancestor_of(deep, KNOWN, find)
    less = Meta(name="thing", uid="u", owner_references=[reference("Job", uid="uid-2")])
    assert ancestor_of(less, KNOWN, find) is not None


def test_what_an_enabled_kind_controls_gets_no_default_queue() -> None:
    owned = Meta(name="thing", uid="u", owner_references=[reference("JobSet")])
    assert not takes_default_queue(owned, KNOWN)
    assert takes_default_queue(owned, {("batch", "Job")})
    assert takes_default_queue(Meta(name="thing", uid="u"), KNOWN)
