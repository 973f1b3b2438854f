"""Which write is next for a parent and its variants, case by case."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from queueing.controller.variants import steps
from queueing.controller.variants.family import Family, family_of
from queueing.core.facts import ClusterQueueFact
from queueing.core.flavor_quotas import FlavorQuotas, ResourceGroup
from queueing.core.names import FlavorName, QueueName, ResourceName
from queueing.core.variants import Migration
from queueing.lifecycle.steps import EvictionReason
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.variants import followed, follows_parent
from queueing.translate.wire.workloads import TopologyAssignment, Workload

NOW = 1_000_000.0
GATE = "kueue.x-k8s.io/concurrent-admission"
FLAVORS = ("best", "good", "poor")


def conditions(*true: str) -> list[dict[str, str]]:
    """Return conditions that are True; `Evicted:Preempted` gives a reason."""
    found = []
    for one in true:
        kind, _, reason = one.partition(":")
        found.append({"type": kind, "status": "True", "reason": reason or kind, "message": "why"})
    return found


def admission(flavor: str) -> dict[str, Any]:
    held = {"name": "main", "flavors": {"cpu": flavor}, "resourceUsage": {"cpu": "1"}}
    return {"clusterQueue": "cq", "podSetAssignments": [held]}


def workload(
    name: str, *true: str, by: str = "", meta: dict[str, Any], spec: dict[str, Any]
) -> Workload:
    status: dict[str, Any] = {"conditions": conditions(*true)}
    if by:
        status["admission"] = admission(by)
    return read(
        Workload,
        {
            "metadata": {"name": name, "namespace": "team", "uid": name, **meta},
            "spec": spec,
            "status": status,
        },
    )


def parent(*true: str, by: str = "", marked: bool = True, **more: Any) -> Workload:
    label = {"kueue.x-k8s.io/concurrent-admission-parent": "true"} if marked else {}
    meta = {"labels": label, **more.pop("meta", {})}
    return workload("parent", *true, by=by, meta=meta, spec=more)


def variant(flavor: str, *true: str, held: bool = False, **more: Any) -> Workload:
    owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "parent"}
    meta = {
        "annotations": {"kueue.x-k8s.io/workload-allowed-resource-flavors": flavor},
        "ownerReferences": [{**owner, "uid": "parent", "controller": True}],
        "finalizers": ["kueue.x-k8s.io/resource-in-use"],
        **more.pop("meta", {}),
    }
    return workload(flavor, *true, by=flavor if held else "", meta=meta, spec=more)


RUNS = ("QuotaReserved", "Admitted")
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def family(of: Workload, *variants: Workload, **policy: Any) -> Family:
    quotas = tuple(FlavorQuotas(flavor=FlavorName(one), quotas=()) for one in FLAVORS)
    queue = ClusterQueueFact(
        name=QueueName("cq"),
        groups=(ResourceGroup(covered=(ResourceName("cpu"),), flavors=quotas),),
        migration=Migration(**policy),
    )
    return family_of(of, variants, queue)


def idle(*flavors: str, **more: Any) -> list[Workload]:
    return [variant(one, **more) for one in flavors]


def next_of(found: Family, **blocked: bool) -> steps.Step | None:
    return steps.next_step(found, blocked, NOW)


def test_a_workload_is_marked_as_a_parent_before_anything_else() -> None:
    assert isinstance(next_of(family(parent(marked=False))), steps.Mark)


def test_one_that_holds_quota_itself_gets_no_variants() -> None:
    assert next_of(family(parent(*RUNS, by="good", marked=False))) is None


def test_variants_are_made_for_all_flavors_that_lack_one() -> None:
    found = next_of(family(parent(), *idle("good")))
    assert isinstance(found, steps.Make)
    assert found.flavors == ("best", "poor")


def test_a_variant_of_a_flavor_that_is_no_longer_offered_is_deleted() -> None:
    found = next_of(family(parent(), *idle(*FLAVORS, "former")))
    assert isinstance(found, steps.Drop)
    assert found.flavor == "former"


def test_a_variant_follows_the_priority_of_its_parent() -> None:
    found = next_of(family(parent(priority=9), *idle(*FLAVORS)))
    assert isinstance(found, steps.FollowParent)


def test_quota_of_an_evicted_variant_does_not_wait_for_variants_that_cannot_be_made() -> None:
    leaving = variant("good", "QuotaReserved", "Evicted:Preempted", held=True)
    assert isinstance(next_of(family(parent(), leaving)), steps.Release)


@pytest.mark.parametrize(
    ("mine", "theirs", "names"),
    [
        ((None, 0), ("WorkloadPriorityClass", 9), {"priority"}),
        (("WorkloadPriorityClass", 9), (None, 0), {"priority"}),
        (("PriorityClass", 1), ("WorkloadPriorityClass", 9), {"priority"}),
        (
            ("WorkloadPriorityClass", 1),
            ("WorkloadPriorityClass", 9),
            {"priority", "priorityClassRef"},
        ),
    ],
    ids=["gets a class", "loses its class", "of another kind", "of the same kind"],
)
def test_a_variant_that_holds_quota_follows_its_parent_as_far_as_the_api_lets_it(
    mine: tuple[str | None, int], theirs: tuple[str | None, int], names: set[str]
) -> None:
    asked = prioritized(*theirs)
    stored = msgspec.json.encode({"metadata": {"name": "parent"}, "spec": asked})
    before = variant("good", "QuotaReserved", held=True, **prioritized(*mine))
    changed = followed(before, stored)["spec"]
    assert set(changed) == names
    after = variant("good", "QuotaReserved", held=True, **{**prioritized(*mine), **changed})
    assert not follows_parent(before, parent(**asked))
    assert follows_parent(after, parent(**asked))


def prioritized(kind: str | None, priority: int) -> dict[str, Any]:
    """Return the priority of a spec, of a class of this kind whose name is its value."""
    if kind is None:
        return {"priority": priority}
    return {"priority": priority, "priorityClassRef": {"kind": kind, "name": str(priority)}}


def test_a_variant_follows_the_gates_of_its_parent() -> None:
    gated = {"annotations": {"kueue.x-k8s.io/admission-gated-by": "example.com/a"}}
    found = next_of(family(parent(meta=gated), *idle(*FLAVORS)))
    assert isinstance(found, steps.FollowParent)


def test_nothing_runs_for_a_parent_whose_object_asks_for_no_pods() -> None:
    held = {"type": "Requeued", "status": "False", "reason": "OnHold"}
    meta = {"name": "parent", "namespace": "team", "uid": "parent"}
    label = {"kueue.x-k8s.io/concurrent-admission-parent": "true"}
    on_hold = read(
        Workload,
        {"metadata": {**meta, "labels": label}, "status": {"conditions": [held]}},
    )
    found = next_of(family(on_hold, variant("good", *RUNS, held=True), *idle("best", "poor")))
    assert isinstance(found, steps.Turn)
    assert not found.active


def test_a_parent_runs_by_the_best_variant_that_is_admitted() -> None:
    good = variant("good", *RUNS, held=True)
    poor = variant("poor", *RUNS, held=True, active=False)
    found = next_of(family(parent(), variant("best"), good, poor))
    assert isinstance(found, steps.AdmitParent)
    assert found.variant is good


@pytest.mark.parametrize(
    ("policy", "off"),
    [
        ({}, ["poor"]),
        ({"retains_first": True}, ["best", "poor"]),
        ({"last_acceptable": "best"}, ["poor"]),
    ],
    ids=["prefers", "retains", "bounded"],
)
def test_variants_that_cannot_win_are_deactivated(policy: dict[str, Any], off: list[str]) -> None:
    of = parent(*RUNS, by="good")
    active = dict.fromkeys(FLAVORS, True)
    turned = []
    for _ in FLAVORS:
        good = variant("good", *RUNS, held=True)
        others = [variant(one, active=active[one]) for one in ("best", "poor")]
        found = next_of(family(of, good, *others, **policy))
        if not isinstance(found, steps.Turn):
            break
        assert not found.active
        name = found.variant.metadata.name
        active[name] = False
        turned.append(name)
    assert turned == off


def test_a_parent_moves_to_a_better_variant_once_this_one_is_admitted() -> None:
    best, good = (variant(one, *RUNS, held=True) for one in ("best", "good"))
    found = next_of(family(parent(*RUNS, by="good"), best, good, variant("poor", active=False)))
    assert isinstance(found, steps.Turn)
    assert (found.variant, found.active) == (good, False)


def test_all_are_activated_when_none_is_admitted() -> None:
    found = next_of(
        family(parent(), variant("best"), variant("good", active=False), variant("poor"))
    )
    assert isinstance(found, steps.Turn)
    assert found.active
    assert found.why == "no other Variant being admitted"


def test_one_that_a_check_rejected_stays_off() -> None:
    rejected = variant("good", "Evicted:DeactivatedDueToAdmissionCheck", active=False)
    assert next_of(family(parent(), variant("best"), rejected, variant("poor"))) is None


def test_all_are_deactivated_with_their_parent() -> None:
    found = next_of(family(parent(active=False), *idle(*FLAVORS)))
    assert isinstance(found, steps.Turn)
    assert (found.active, found.why) == (False, 'Parent Workload "team/parent" not active')


def test_a_parent_is_evicted_with_its_variant_and_its_quota_waits_for_it() -> None:
    leaving = variant("good", *RUNS, "Evicted:Preempted", held=True)
    rest = [variant("best"), variant("poor", active=False)]
    found = next_of(family(parent(*RUNS, by="good"), leaving, *rest))
    assert isinstance(found, steps.EvictParent)
    assert found.reason is EvictionReason.VARIANT_EVICTED
    stopping = parent(*RUNS, "Evicted:VariantEvicted", by="good")
    assert next_of(family(stopping, leaving, *rest)) is None
    found = next_of(family(parent(), leaving, *rest))
    assert isinstance(found, steps.Release)
    assert found.variant is leaving


def moved(one: Workload) -> Workload:
    """Return a variant whose pods were given other places, because a node failed."""
    held = one.status.admission
    assert held is not None
    (before,) = held.pod_set_assignments
    after = replace(before, topology_assignment=TopologyAssignment(levels=["rack"]))
    return replace(
        one, status=replace(one.status, admission=replace(held, pod_set_assignments=[after]))
    )


def test_a_parent_gets_the_new_places_of_the_variant_that_it_runs_by() -> None:
    good = moved(variant("good", *RUNS, held=True))
    found = next_of(
        family(parent(*RUNS, by="good"), variant("best"), good, variant("poor", active=False))
    )
    assert isinstance(found, steps.Move)
    assert found.variant is good


def test_a_variant_with_new_places_keeps_its_quota_until_its_parent_has_stopped() -> None:
    leaving = moved(variant("good", *RUNS, "Evicted:Preempted", held=True))
    rest = [variant("best"), variant("poor", active=False)]
    assert isinstance(next_of(family(parent(*RUNS, by="good"), leaving, *rest)), steps.EvictParent)
    stopping = parent(*RUNS, "Evicted:VariantEvicted", by="good")
    assert next_of(family(stopping, leaving, *rest)) is None


def test_a_variant_that_nothing_runs_by_gives_its_quota_back_at_once() -> None:
    good = variant("good", *RUNS, held=True)
    leaving = variant("best", "QuotaReserved", "Evicted:AdmissionCheck", held=True)
    found = next_of(family(parent(*RUNS, by="good"), good, leaving, variant("poor", active=False)))
    assert isinstance(found, steps.Release)


def test_a_variant_is_evicted_with_its_parent() -> None:
    good = variant("good", *RUNS, held=True)
    late = parent(*RUNS, "Evicted:PodsReadyTimeout", by="good")
    found = next_of(family(late, variant("best"), good, variant("poor", active=False)))
    assert isinstance(found, steps.EvictWithParent)


def test_a_parent_without_its_variant_is_evicted() -> None:
    found = next_of(family(parent(*RUNS, by="good"), *idle(*FLAVORS)))
    assert isinstance(found, steps.EvictParent)
    assert (found.reason, found.message) == (
        EvictionReason.CONCURRENT_ADMISSION,
        "No variant is running",
    )


@pytest.mark.parametrize("state", [RUNS, RUNS[:1]], ids=["admitted", "waits for a check"])
def test_a_variant_that_reserved_for_other_pods_than_its_parent_asks_for_is_evicted(
    state: tuple[str, ...],
) -> None:
    pods = [{"name": "main", "count": 10, "template": {}}]
    good = variant("good", *state, held=True, podSets=[{**pods[0], "count": 5}])
    rest = [variant("best", podSets=pods), variant("poor", podSets=pods, active=False)]
    found = next_of(family(parent(podSets=pods), good, *rest))
    assert isinstance(found, steps.EvictOutdated)
    assert found.variant is good


def test_the_variant_that_a_parent_runs_by_is_not_compared_with_it() -> None:
    pods = [{"name": "main", "count": 10, "template": {}}]
    good = variant("good", *RUNS, held=True)
    rest = [variant("best", podSets=pods), variant("poor", podSets=pods, active=False)]
    assert next_of(family(parent(*RUNS, by="good", podSets=pods), good, *rest)) is None


def test_a_deleted_variant_stays_until_its_parent_has_stopped() -> None:
    gone = variant("good", *RUNS, held=True, meta=DELETED)
    rest = [variant("best"), variant("poor", active=False)]
    assert isinstance(next_of(family(parent(*RUNS, by="good"), gone, *rest)), steps.EvictParent)
    stopping = parent(*RUNS, "Evicted:ConcurrentAdmission", by="good")
    assert next_of(family(stopping, gone, *rest)) is None
    assert isinstance(next_of(family(parent(), gone, *rest)), steps.LetGo)


def test_variants_finish_with_their_parent_and_are_let_go() -> None:
    over = parent(*RUNS, "Finished:Failed", by="good")
    good = variant("good", *RUNS, held=True)
    found = next_of(family(over, good))
    assert isinstance(found, steps.FinishVariant)
    assert (found.reason, found.message) == ("Failed", "why")
    done = variant("good", *RUNS, "Finished:Failed", held=True)
    assert isinstance(next_of(family(over, done)), steps.LetGo)


def test_ready_pods_of_a_parent_are_told_to_its_variant() -> None:
    good = variant("good", *RUNS, held=True)
    ready = parent(*RUNS, "PodsReady", by="good")
    found = next_of(family(ready, variant("best"), good, variant("poor", active=False)))
    assert isinstance(found, steps.Mirror)


def test_the_best_variant_that_only_its_gate_keeps_waiting_may_preempt() -> None:
    found = next_of(family(parent(), *idle(*FLAVORS)), best=False, good=True, poor=True)
    assert isinstance(found, steps.Ungate)
    assert found.variant.metadata.name == "good"


def test_one_that_was_not_judged_yet_comes_first() -> None:
    assert next_of(family(parent(), *idle(*FLAVORS)), good=True, poor=True) is None


def test_the_next_variant_may_preempt_five_minutes_later() -> None:
    opened = {"name": GATE, "position": "Open", "lastTransitionTime": "1970-01-12T13:46:40Z"}
    best = read(
        Workload,
        {
            "metadata": {
                "name": "best",
                "namespace": "team",
                "uid": "best",
                "annotations": {"kueue.x-k8s.io/workload-allowed-resource-flavors": "best"},
                "ownerReferences": [
                    {
                        "apiVersion": "kueue.x-k8s.io/v1beta2",
                        "kind": "Workload",
                        "name": "parent",
                        "uid": "parent",
                        "controller": True,
                    }
                ],
            },
            "status": {"preemptionGates": [opened]},
        },
    )
    found = next_of(family(parent(), best, *idle("good", "poor")), best=False, good=True)
    assert found == steps.Later(NOW + steps.UNGATED_FOR_S)
