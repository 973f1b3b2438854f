"""Facts with defaults for all but what a test is about.

Amounts are ints as everywhere inside: `{"cpu": 2_000}` is two cores. A quota may be given as a
plain int (nominal, no limits) or as a `Quota`.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypedDict, Unpack, cast

from queueing.core.facts import (
    Admission,
    CheckFact,
    CheckPhase,
    CheckState,
    ClusterQueueFact,
    CohortFact,
    Condition,
    FlavorFact,
    LocalQueueFact,
    NamespaceFact,
    PodSet,
    PodSetAssignment,
    Preemption,
    PreemptionPolicy,
    StopPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.flavor_quotas import CheckRule, FlavorQuotas, Fungibility, Quota, ResourceGroup
from queueing.core.names import (
    CheckName,
    CohortName,
    FlavorName,
    Key,
    PodSetName,
    QueueName,
    ResourceName,
    Uid,
)
from queueing.core.selectors import Requirement, Selector, Taint, Toleration
from queueing.core.stakes import Stake

EVERY_NAMESPACE = Selector()
NAMESPACE = "team"
QUEUE = "main"
LOCAL_QUEUE = f"{NAMESPACE}/{QUEUE}"

Quotas = Mapping[str, Mapping[str, int | Quota]]
"""Flavor, in order of preference → resource → quota."""


def quota(nominal: int, *, borrowing: int | None = None, lending: int | None = None) -> Quota:
    """Build a quota; a limit left out does not bind."""
    return Quota(nominal=nominal, borrowing_limit=borrowing, lending_limit=lending)


def group(flavors: Quotas) -> ResourceGroup:
    """Build a resource group; it covers the resources of its first flavor."""
    covered = tuple(ResourceName(name) for name in next(iter(flavors.values()), {}))
    return ResourceGroup(
        covered=covered,
        flavors=tuple(
            FlavorQuotas(
                flavor=FlavorName(flavor),
                quotas=tuple(
                    (
                        ResourceName(resource),
                        amount if isinstance(amount, Quota) else quota(amount),
                    )
                    for resource, amount in quotas.items()
                ),
            )
            for flavor, quotas in flavors.items()
        ),
    )


def groups(quotas: Quotas | Iterable[Quotas]) -> tuple[ResourceGroup, ...]:
    """Build resource groups from one table of quotas, or from one per group."""
    tables = [quotas] if isinstance(quotas, Mapping) else list(quotas)
    return tuple(group(table) for table in tables if table)


class QueueFields(TypedDict, total=False):
    """Fields of a ClusterQueue that most tests leave alone."""

    strategy: Strategy
    namespace_selector: Selector | None
    fungibility: Fungibility
    preemption: Preemption
    checks: tuple[CheckRule, ...]
    stop_policy: StopPolicy
    fair_weight: Fraction
    admission_fair_sharing: bool
    deleting: bool
    preemptions_max: int | None
    misconfigured: str


def cluster_queue(
    name: str = QUEUE,
    quotas: Quotas | Iterable[Quotas] | None = None,
    *,
    cohort: str | None = None,
    **fields: Unpack[QueueFields],
) -> ClusterQueueFact:
    """Build a ClusterQueue of 10 cores of flavor `default`, open to every namespace."""
    fields.setdefault("namespace_selector", EVERY_NAMESPACE)
    return ClusterQueueFact(
        name=QueueName(name),
        cohort=None if cohort is None else CohortName(cohort),
        groups=groups({"default": {"cpu": 10_000}} if quotas is None else quotas),
        **fields,
    )


def cohort(
    name: str,
    parent: str | None = None,
    *,
    quotas: Quotas | Iterable[Quotas] = (),
    fair_weight: Fraction = Fraction(1),
) -> CohortFact:
    """Build a Cohort without quota of its own."""
    return CohortFact(
        name=CohortName(name),
        parent=None if parent is None else CohortName(parent),
        groups=groups(quotas),
        fair_weight=fair_weight,
    )


def preemption(
    *,
    within: PreemptionPolicy = PreemptionPolicy.NEVER,
    reclaim: PreemptionPolicy = PreemptionPolicy.NEVER,
    borrow: PreemptionPolicy = PreemptionPolicy.NEVER,
    threshold: int | None = None,
) -> Preemption:
    """Build the preemption policy of a ClusterQueue."""
    return Preemption(
        within_cluster_queue=within,
        reclaim_within_cohort=reclaim,
        borrow_within_cohort=borrow,
        max_priority_threshold=threshold,
    )


def local_queue(
    key: str = LOCAL_QUEUE,
    cluster_queue: str = QUEUE,
    *,
    stop_policy: StopPolicy = StopPolicy.NONE,
    deleting: bool = False,
) -> LocalQueueFact:
    """Build a LocalQueue."""
    return LocalQueueFact(
        key=Key(key),
        cluster_queue=QueueName(cluster_queue),
        stop_policy=stop_policy,
        deleting=deleting,
    )


def flavor(
    name: str = "default",
    *,
    labels: Mapping[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
    tolerations: tuple[Toleration, ...] = (),
    topology: str | None = None,
) -> FlavorFact:
    """Build a ResourceFlavor without labels and taints."""
    return FlavorFact(
        name=FlavorName(name),
        node_labels=dict(labels or {}),
        taints=taints,
        tolerations=tolerations,
        topology=topology,
    )


def namespace(name: str = NAMESPACE, labels: Mapping[str, str] | None = None) -> NamespaceFact:
    """Build a namespace that has the name label which every API server gives it."""
    return NamespaceFact(name=name, labels={"kubernetes.io/metadata.name": name, **(labels or {})})


def check(name: str = "check", *, active: bool = True, controller: str = "test") -> CheckFact:
    """Build an AdmissionCheck that is active."""
    return CheckFact(name=CheckName(name), controller=controller, active=active)


def check_rule(name: str = "check", *on_flavors: str) -> CheckRule:
    """Build the admission check rule of a ClusterQueue."""
    return CheckRule(name=CheckName(name), on_flavors=tuple(FlavorName(one) for one in on_flavors))


def check_state(
    name: str = "check",
    state: CheckPhase = CheckPhase.READY,
    *,
    changed: float = 0.0,
    message: str = "",
) -> CheckState:
    """Build the state of one admission check of a workload."""
    return CheckState(name=CheckName(name), state=state, changed=changed, message=message)


class PodSetFields(TypedDict, total=False):
    """Fields of a pod set that most tests leave alone."""

    min_count: int | None
    node_selector: Mapping[str, str]
    node_affinity: tuple[tuple[Requirement, ...], ...] | None
    tolerations: tuple[Toleration, ...]
    group: str | None
    wants_topology: bool
    shape: str


def pod_set(
    requests: Mapping[str, int] | None = None,
    count: int = 1,
    *,
    name: str = "main",
    **fields: Unpack[PodSetFields],
) -> PodSet:
    """Build a pod set of one pod that asks one core. The shape tells requests and fields apart."""
    asked = {ResourceName(one): amount for one, amount in (requests or {"cpu": 1_000}).items()}
    fields.setdefault("shape", repr((sorted(asked.items()), sorted(fields.items(), key=str))))
    return PodSet(name=PodSetName(name), count=count, requests=asked, **fields)


def condition(
    type_: str, reason: str = "", *, status: bool = True, changed: float = 0.0, message: str = ""
) -> Condition:
    """Build a condition that is True."""
    return Condition(type=type_, status=status, reason=reason, message=message, changed=changed)


class PlainFields(TypedDict, total=False):
    """Fields of a Workload that most tests leave alone, as the fact has them."""

    priority: int
    active: bool
    admission: Admission | None
    checks: tuple[CheckState, ...]
    admission_gates: tuple[str, ...]
    preemption_gated: bool
    reclaimable: Mapping[PodSetName, int]
    requeue_count: int
    requeue_at: float | None
    max_execution_s: int | None
    past_execution_s: int
    deleting: bool
    misconfigured: str
    stake: Stake | None


class WorkloadFields(PlainFields, total=False):
    """All that a test may say of a Workload."""

    uid: str
    local_queue: str | None
    pod_sets: tuple[PodSet, ...]
    created: float
    conditions: Iterable[Condition]


def workload(
    name: str = "job",
    requests: Mapping[str, int] | None = None,
    count: int = 1,
    **fields: Unpack[WorkloadFields],
) -> WorkloadFact:
    """Build a pending Workload of one pod set, in `team/main`, that asks one core.

    A name without a namespace is in `team`; the uid is the key unless given.
    """
    key = Key(name if "/" in name else f"{NAMESPACE}/{name}")
    queue = fields.get("local_queue", LOCAL_QUEUE)
    plain = {one: value for one, value in fields.items() if one in PlainFields.__annotations__}
    return WorkloadFact(
        key=key,
        uid=Uid(fields.get("uid", key)),
        local_queue=None if queue is None else Key(queue),
        pod_sets=fields.get("pod_sets") or (pod_set(requests, count),),
        created=fields.get("created", 0.0),
        conditions={one.type: one for one in fields.get("conditions", ())},
        **cast("PlainFields", plain),
    )


def assignment(
    usage: Mapping[str, int] | None = None,
    flavors: str | Mapping[str, str] = "default",
    *,
    name: str = "main",
    count: int = 1,
) -> PodSetAssignment:
    """Build the assignment of one pod set: one core of `default`."""
    used = {ResourceName(one): amount for one, amount in (usage or {"cpu": 1_000}).items()}
    return PodSetAssignment(
        name=PodSetName(name),
        count=count,
        flavors={
            one: FlavorName(flavors if isinstance(flavors, str) else flavors[one]) for one in used
        },
        usage=used,
    )


def admission(queue: str = QUEUE, *assignments: PodSetAssignment) -> Admission:
    """Build the quota that a status says a workload holds."""
    return Admission(cluster_queue=QueueName(queue), pod_sets=assignments or (assignment(),))


RESERVED = condition("QuotaReserved", "QuotaReserved")
ADMITTED = condition("Admitted", "Admitted")


def admitted(
    name: str = "running",
    requests: Mapping[str, int] | None = None,
    *,
    queue: str = QUEUE,
    flavor: str = "default",
    **fields: Unpack[WorkloadFields],
) -> WorkloadFact:
    """Build a Workload of one pod that was admitted at time `created`."""
    at = fields.get("created", 0.0)
    extra = tuple(fields.pop("conditions", ()))
    fields["conditions"] = (
        condition("QuotaReserved", "QuotaReserved", changed=at),
        condition("Admitted", "Admitted", changed=at),
        *extra,
    )
    fields.setdefault("admission", admission(queue, assignment(requests, flavor)))
    return workload(name, requests, **fields)
