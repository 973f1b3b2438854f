from fractions import Fraction
from typing import Any

import pytest

from queueing.core.facts import ClusterQueueFact, PreemptionPolicy, StopPolicy, Strategy
from queueing.core.flavor_quotas import FlavorPolicy, Quota
from queueing.core.selectors import Requirement, Selector
from queueing.translate.inbound.manifests import ManifestError, read
from queueing.translate.inbound.queues import cluster_queue, cohort, local_queue
from queueing.translate.inbound.surroundings import check, flavor, namespace, topology
from queueing.translate.wire import cluster as core_wire
from queueing.translate.wire import queues as wire


def quota(name: str, nominal: str | int, **limits: str) -> dict[str, Any]:
    return {"name": name, "nominalQuota": nominal, **limits}


def group(covered: list[str], **flavors: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "coveredResources": covered,
        "flavors": [{"name": name, "resources": quotas} for name, quotas in flavors.items()],
    }


def queue(**spec: Any) -> ClusterQueueFact:
    return cluster_queue(read(wire.ClusterQueue, {"metadata": {"name": "cq"}, "spec": spec}))


def test_a_full_cluster_queue_keeps_every_choice_of_its_admin() -> None:
    got = queue(
        cohortName="all",
        queueingStrategy="StrictFIFO",
        stopPolicy="Hold",
        namespaceSelector={
            "matchLabels": {"team": "a"},
            "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["dev"]}],
        },
        resourceGroups=[
            group(
                ["cpu", "memory"],
                default=[
                    quota("cpu", "1500m", borrowingLimit="1"),
                    quota("memory", "2Gi", lendingLimit="1Gi"),
                ],
            )
        ],
        preemption={
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 7},
        },
        flavorFungibility={"whenCanBorrow": "TryNextFlavor"},
        fairSharing={"weight": "500m"},
        admissionChecksStrategy={"admissionChecks": [{"name": "prov", "onFlavors": ["default"]}]},
        admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"},
    )
    assert got.misconfigured == ""
    assert (got.cohort, got.strategy, got.stop_policy) == (
        "all",
        Strategy.STRICT_FIFO,
        StopPolicy.HOLD,
    )
    assert got.groups[0].covered == ("cpu", "memory")
    assert got.groups[0].flavors[0].quotas == (
        ("cpu", Quota(nominal=1500, borrowing_limit=1000)),
        ("memory", Quota(nominal=2 * 1024**3, lending_limit=1024**3)),
    )
    assert got.namespace_selector == Selector(
        (
            Requirement(key="team", operator="In", values=("a",)),
            Requirement(key="env", operator="NotIn", values=("dev",)),
        )
    )
    assert got.preemption.max_priority_threshold == 7
    assert got.preemption.reclaim_within_cohort is PreemptionPolicy.ANY
    assert got.fungibility.when_can_borrow is FlavorPolicy.TRY_NEXT_FLAVOR
    assert got.fungibility.when_can_preempt is FlavorPolicy.TRY_NEXT_FLAVOR
    assert got.fair_weight == Fraction(1, 2)
    assert got.checks[0].on_flavors == ("default",)
    assert got.admission_fair_sharing


def test_an_empty_cluster_queue_has_the_defaults_of_the_crd() -> None:
    got = queue()
    assert got.namespace_selector is None
    assert got.strategy is Strategy.BEST_EFFORT_FIFO
    assert got.preemption.within_cluster_queue is PreemptionPolicy.NEVER
    assert got.fair_weight == 1
    assert got.misconfigured == ""


def test_an_empty_namespace_selector_is_not_a_missing_one() -> None:
    assert queue(namespaceSelector={}).namespace_selector == Selector()


ONE = [quota("cpu", 1)]


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            {"resourceGroups": [group(["cpu"], a=ONE), group(["cpu"], b=ONE)]},
            "Duplicate value: 'cpu'",
            id="a resource in two groups",
        ),
        pytest.param(
            {"resourceGroups": [group(["cpu"], a=ONE), group(["gpu"], a=[quota("gpu", 1)])]},
            "Duplicate value: 'a'",
            id="a flavor in two groups",
        ),
        pytest.param(
            {"resourceGroups": [group(["cpu", "memory"], a=ONE)]},
            "same number of resources",
            id="a flavor that lacks a covered resource",
        ),
        pytest.param(
            {"resourceGroups": [group(["memory"], a=ONE)]},
            "must match the name in coveredResources",
            id="a flavor with another resource",
        ),
        pytest.param(
            {"resourceGroups": [group(["cpu"], a=[quota("cpu", "-1")])]},
            "nominalQuota: -1 must be greater than or equal to 0",
            id="a negative quota",
        ),
        pytest.param(
            {"resourceGroups": [group(["cpu"], a=[quota("cpu", "one")])]},
            "'one' is not a quantity",
            id="a word for a number",
        ),
        pytest.param({"stopPolicy": "Now"}, "'Now' is not one of", id="an unknown word"),
        pytest.param({"fairSharing": {"weight": "-1"}}, "equal to 0", id="a negative weight"),
        pytest.param(
            {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}},
            "'Is' is not one of",
            id="an unknown operator",
        ),
    ],
)
def test_what_slips_past_the_schema_is_named(spec: dict[str, Any], want: str) -> None:
    assert want in queue(**spec).misconfigured


@pytest.mark.parametrize(
    ("weight", "want"),
    [
        pytest.param("1n", Fraction(1, 10**9), id="however light"),
        pytest.param("-2", Fraction(0), id="a negative one as 0"),
        pytest.param("much", Fraction(1), id="what is none as the default"),
    ],
)
def test_a_local_queue_may_have_any_weight(weight: str, want: Fraction) -> None:
    document = {
        "metadata": {"name": "a", "namespace": "team"},
        "spec": {"clusterQueue": "cq", "fairSharing": {"weight": weight}},
    }
    got = local_queue(read(wire.LocalQueue, document))
    assert (got.fair_weight, got.fair_divisor) == (want, float(want))


def test_a_cohort_may_lend_what_its_subtree_has() -> None:
    lending = group(["cpu"], a=[quota("cpu", 0, lendingLimit="5")])
    document = {
        "metadata": {"name": "c"},
        "spec": {"parentName": "root", "resourceGroups": [lending]},
    }
    got = cohort(read(wire.Cohort, document))
    assert got.misconfigured == ""
    assert got.groups[0].flavors[0].quotas[0][1].lending_limit == 5000


LIMITED = [quota("cpu", 1, borrowingLimit="1", lendingLimit="2")]


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"resourceGroups": [group(["cpu"], a=LIMITED)]}, id="limits without a cohort"),
        pytest.param(
            {"cohortName": "c", "resourceGroups": [group(["cpu"], a=LIMITED)]},
            id="lending more than there is",
        ),
        pytest.param(
            {"preemption": {"borrowWithinCohort": {"policy": "LowerPriority"}}},
            id="borrowing preemption without reclaim",
        ),
        pytest.param({"fairSharing": {"weight": "1n"}}, id="too light a weight"),
        pytest.param(
            {"resourceGroups": [group(["cpu", "gpu"], a=[quota("gpu", 1), quota("cpu", 1)])]},
            id="resources of a flavor in another order",
        ),
    ],
)
def test_what_a_webhook_refuses_and_does_no_harm_disables_no_queue(spec: dict[str, Any]) -> None:
    assert queue(**spec).misconfigured == ""


def test_a_limit_of_a_root_cohort_does_no_harm() -> None:
    document = {"metadata": {"name": "c"}, "spec": {"resourceGroups": [group(["cpu"], a=LIMITED)]}}
    assert cohort(read(wire.Cohort, document)).misconfigured == ""


def test_the_small_kinds() -> None:
    meta = {"name": "x", "namespace": "team"}
    queue_fact = local_queue(
        read(wire.LocalQueue, {"metadata": meta, "spec": {"clusterQueue": "cq"}})
    )
    assert (queue_fact.key, queue_fact.cluster_queue) == ("team/x", "cq")
    spec = {
        "nodeLabels": {"pool": "a"},
        "nodeTaints": [{"key": "gpu", "effect": "NoSchedule"}],
        "tolerations": [{"key": "gpu"}],
    }
    flavor_fact = flavor(read(wire.ResourceFlavor, {"metadata": meta, "spec": spec}))
    assert flavor_fact.taints[0].effect == "NoSchedule"
    assert flavor_fact.tolerations[0].operator == "Equal"
    active = {"status": {"conditions": [{"type": "Active", "status": "True"}]}}
    assert check(read(wire.AdmissionCheck, {"metadata": meta, **active})).active
    assert not check(read(wire.AdmissionCheck, {"metadata": meta})).active
    levels = {"spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "host"}]}}
    assert topology(read(wire.Topology, {"metadata": meta, **levels})).levels == ("rack", "host")
    labels = namespace(read(core_wire.Namespace, {"metadata": {"name": "a"}})).labels
    assert labels == {"kubernetes.io/metadata.name": "a"}


def test_a_document_of_the_wrong_shape_names_the_field() -> None:
    with pytest.raises(ManifestError, match=r"\$\.spec\.resourceGroups"):
        read(wire.ClusterQueue, {"metadata": {"name": "a"}, "spec": {"resourceGroups": 3}})
