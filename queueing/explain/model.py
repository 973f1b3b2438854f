"""The answers as frozen values, whose JSON is stable: camelCase, amounts as Kubernetes prints them.

Times are RFC 3339 in UTC. Every field is always there: a text that says nothing is empty, a value
that is not known or does not apply is null.
"""

import msgspec

from queueing.explain.domain_model import ResourceFlavorExplanation
from queueing.explain.part import API_VERSION, AnswerPart

HIDDEN = "(another namespace)"
"""Stands for the name of a workload that the asker may not read."""


class Blocker(AnswerPart, frozen=True, kw_only=True):
    """One thing that keeps a workload from being admitted, or from running."""

    kind: str
    """Quota, Capacity, Flavor, Place, Turn, Stopped, Inactive, Gate, Deactivated, Queue, Check,
    Backoff, Victims, Pods, Budget, Namespace or Other."""
    object: str
    """The object that blocks: `ClusterQueue vision`, `AdmissionCheck dws`; empty if it is none."""
    text: str
    """The same as one sentence."""
    flavor: str = ""
    resource: str = ""
    pod_set: str = ""
    requested: str = ""
    """Quota and Capacity: the amount that the pod set asks for, with those before it."""
    available: str = ""
    """Quota: what the workload could have now. Capacity: what it could have at most."""
    missing: str = ""
    """What `available` lacks."""
    limit: str = ""
    """What binds: `nominalQuota of ClusterQueue x`, `borrowingLimit of Cohort y`."""
    since: str | None = None


class Held(AnswerPart, frozen=True, kw_only=True):
    """A workload that holds a flavor and resource that another one lacks."""

    workload: str
    """`namespace/name`."""
    cluster_queue: str
    flavor: str
    resource: str
    amount: str
    priority: int
    since: str | None
    borrows: bool
    """Whether its queue borrows this flavor and resource."""
    leaving: bool
    """Whether it is evicted already and gives back what it holds when its pods have ended."""
    waits: bool
    """Whether it waits itself, and this is kept for it until the rest is free."""


class Wake(AnswerPart, frozen=True, kw_only=True):
    """Something that will have a waiting workload judged again."""

    event: str
    """Release, QuotaChange, VictimsGone, Turn, Time, Object, Pods or Checks."""
    text: str
    at: str | None = None
    """Time: when."""


class Place(AnswerPart, frozen=True, kw_only=True):
    """The place of a workload in its queue; positions count from 0."""

    position_in_cluster_queue: int
    position_in_local_queue: int
    pending: int
    """How many wait in the ClusterQueue."""
    strict: bool
    """Whether the first of the queue blocks all behind it (StrictFIFO)."""
    first: str
    """The first of the queue."""
    ahead: tuple[str, ...]
    """Those just before it, at most three; the nearest last."""


class Flavored(AnswerPart, frozen=True, kw_only=True):
    """What one pod set would get, or has."""

    pod_set: str
    count: int
    flavors: dict[str, str]
    """Resource → flavor."""
    usage: dict[str, str]
    """Resource → amount for all pods."""


class Outcome(AnswerPart, frozen=True, kw_only=True):
    """What the engine would decide about a workload that went first."""

    result: str
    """Admit, Preempt or Wait."""
    text: str
    borrows: bool = False
    pod_sets: tuple[Flavored, ...] = ()
    victims: tuple[str, ...] = ()
    """Preempt: who would be evicted for it."""


class Edit(AnswerPart, frozen=True, kw_only=True):
    """One field of one object that a remedy changes."""

    object: str
    """`Workload team/train`, `ClusterQueue vision`."""
    field: str
    before: str
    after: str


class Remedy(AnswerPart, frozen=True, kw_only=True):
    """A change after which the engine admits the workload, if nothing else changes."""

    kind: str
    """AskLess, FewerPods, ShorterRun, OtherFlavor, OtherQueue, RaisePriority, Activate, RemoveGate,
    RaiseQuota, RaiseBorrowingLimit, RaiseLendingLimit, AllowReclaim, LetOthersPass, ResumeQueue or
    OpenQueue."""
    who: str
    """Team or Admin: who can do it."""
    text: str
    result: str
    """Admit, or Preempt: it is admitted once the victims have left."""
    edits: tuple[Edit, ...]
    victims: tuple[str, ...] = ()


class HeldQuota(AnswerPart, frozen=True, kw_only=True):
    """Quota that a workload holds."""

    flavor: str
    resource: str
    amount: str
    borrowed: str
    """How much of it its ClusterQueue borrows of this flavor and resource, with all its workloads.
    """


class Threat(AnswerPart, frozen=True, kw_only=True):
    """A rule by which others may preempt a running workload."""

    cluster_queue: str
    """Whose workloads may."""
    above_priority: int | None
    """Those of a higher priority; null for any priority."""
    or_older_equal: bool
    """Whether also those of the same priority that are queued for longer."""
    text: str


class Holding(AnswerPart, frozen=True, kw_only=True):
    """What holds for a workload that holds quota."""

    since: str | None
    uses: tuple[HeldQuota, ...]
    threats: tuple[Threat, ...]
    protected_until: str | None
    """Until when its minimum runtime protects it."""
    spared_until: str | None
    """Until when the minimum runtime of a CreditPolicy protects it from preemption by shares."""
    claims: tuple[str, ...]
    """UIDs of ResourceClaims that it may share with other workloads."""
    promised: bool
    """It leaves, and what it gives back was promised to others."""
    credit: str
    """How credits bend the weight of its ClusterQueue, or of the nearest cohort: `x1.25`; empty
    without."""


class Range(AnswerPart, frozen=True, kw_only=True):
    """A stretch of time in which something happens."""

    earliest: str
    latest: str | None
    """Null where no end is known."""


class Estimate(AnswerPart, frozen=True, kw_only=True):
    """When a waiting workload will be admitted, as far as that can be told."""

    known: bool
    """False: nothing can be told, and `text` says why."""
    text: str
    as_of: str
    """The moment whose facts it is made of."""
    half: Range | None = None
    """It is admitted in this stretch in half of the futures that were looked at."""
    nearly_all: Range | None = None
    """The same of nine in ten; null also where too few futures were looked at to tell."""
    basis: tuple[str, ...] = ()
    """What it rests on; sentences."""
    futures: int = 0
    """How many possible futures were looked at."""


class LineEstimates(AnswerPart, frozen=True, kw_only=True, tag_field="kind", tag="LineEstimates"):
    """When some of those that wait in a queue will be admitted."""

    api_version: str = API_VERSION
    estimates: dict[str, Estimate]
    """By `namespace/name`; whoever must not be tried yet is not among them."""


class WorkloadExplanation(
    AnswerPart, frozen=True, kw_only=True, tag_field="kind", tag="WorkloadExplanation"
):
    """The answer about one workload."""

    api_version: str = API_VERSION
    namespace: str
    name: str
    state: str
    """Waiting, Reserved (it has quota, admission checks are open), Admitted, Leaving or Finished.
    """
    summary: str
    reason: str
    """Waiting: the reason of the condition QuotaReserved."""
    message: str
    local_queue: str
    cluster_queue: str
    cohort: str
    priority: int
    created: str
    blockers: tuple[Blocker, ...] = ()
    holders: tuple[Held, ...] = ()
    """The largest holders of what is missing, at most five."""
    holders_in_all: int = 0
    wakes: tuple[Wake, ...] = ()
    place: Place | None = None
    if_first: Outcome | None = None
    remedies: tuple[Remedy, ...] = ()
    remedies_note: str = ""
    """Why there may be remedies that were not looked for; empty if all were."""
    run: Holding | None = None
    estimate: Estimate | None = None
    """When it will be admitted; null unless that was asked for."""
    page: str = ""
    """Its address on the page; empty where the controller does not know that of the page."""


class QuotaRow(AnswerPart, frozen=True, kw_only=True):
    """One flavor and resource of a queue."""

    flavor: str
    resource: str
    nominal: str
    used: str
    borrowed: str
    lent: str
    promised: str
    available: str
    """What one more workload could have now."""
    borrowing_limit: str | None
    lending_limit: str | None


class Group(AnswerPart, frozen=True, kw_only=True):
    """Workloads that wait for the same reason."""

    reason: str
    message: str
    count: int
    first: str
    """The first of them in the order of the queue."""


class QueueExplanation(
    AnswerPart, frozen=True, kw_only=True, tag_field="kind", tag="QueueExplanation"
):
    """The answer about a ClusterQueue or LocalQueue."""

    api_version: str = API_VERSION
    queue: str
    """`ClusterQueue` or `LocalQueue`."""
    namespace: str
    name: str
    cluster_queue: str
    cohort: str
    active: bool
    summary: str
    pending: int
    inadmissible: int
    """How many of those pending can only be admitted after something has changed."""
    reserving: int
    admitted: int
    quotas: tuple[QuotaRow, ...]
    """Those of the ClusterQueue."""
    groups: tuple[Group, ...]
    """The largest first."""
    groups_omitted: int = 0
    lenders: tuple[str, ...] = ()
    """Other queues of its tree from which it could borrow now."""
    estimates: dict[str, Estimate] | None = None
    """When the first who wait will be admitted, by `namespace/name` in the order of the queue; null
    unless that was asked for."""


class TreeNode(AnswerPart, frozen=True, kw_only=True):
    """A cohort or ClusterQueue in the tree below a cohort."""

    kind: str
    """Cohort or ClusterQueue."""
    name: str
    parent: str
    """The cohort that it is in; empty for none."""
    depth: int
    """How far it is below the top of the answer."""
    active: bool
    pending: int
    """Of a cohort, like the next two, with all below it."""
    holding: int
    """How many workloads hold quota."""
    quotas: tuple[QuotaRow, ...]
    """Nominal quota, use and promises of a cohort are sums over all below it; it borrows from
    outside, and lends to outside."""


class CohortExplanation(
    AnswerPart, frozen=True, kw_only=True, tag_field="kind", tag="CohortExplanation"
):
    """The answer about a cohort and what is below it, or about all trees."""

    api_version: str = API_VERSION
    name: str
    """Empty for all trees."""
    nodes: tuple[TreeNode, ...]
    """Parents first, at most 200: the highest."""
    omitted: int = 0
    """How many nodes are deeper, and left out."""


class LineRow(AnswerPart, frozen=True, kw_only=True):
    """A workload that waits in a queue, or holds quota of it."""

    namespace: str
    name: str
    local_queue: str
    priority: int
    position: int | None
    """Its place among those that wait, from 0; null if it must not be tried yet, or does not wait.
    """
    state: str
    """Waiting, Reserved, Admitted or Leaving."""
    reason: str
    message: str
    since: str | None
    """Since when it is queued, or holds quota."""
    uses: dict[str, str]
    """What it holds: `cpu of default` → amount."""


class Line(AnswerPart, frozen=True, kw_only=True, tag_field="kind", tag="Line"):
    """A part of the list of those that wait in a queue, in its order, or that hold its quota."""

    api_version: str = API_VERSION
    cluster_queue: str
    local_queue: str
    """Namespace and name; empty for all of the ClusterQueue."""
    holding: bool
    """Whether these are the ones that hold quota, those for longest first."""
    offset: int
    in_all: int
    rows: tuple[LineRow, ...]
    """At most 500."""


Explanation = WorkloadExplanation | QueueExplanation
DECODER = msgspec.json.Decoder(Explanation)
Answer = Explanation | CohortExplanation | Line | ResourceFlavorExplanation
ANSWERS = msgspec.json.Decoder(Answer)
