"""Nomination: chooses flavors and victims for each head of a round, on the present usage.

Before that `refusal` says whether a workload must not be judged at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from queueing.core.credits.allowance import LOWEST_PRIORITY, Allowance
from queueing.core.decisions import Reason, Requeue
from queueing.core.entries import Entry, Head
from queueing.core.facts import (
    CheckPhase,
    ClusterQueueFact,
    NamespaceFact,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.facts import Strategy as QueueStrategy
from queueing.core.fair_sharing.patience import NO_PATIENCE, Patiences
from queueing.core.fair_sharing.preemption import fair_targets
from queueing.core.flavor_quotas import FlavorPolicy
from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.partial import largest_that_fits
from queueing.core.flavors.search import Search
from queueing.core.holders import Holders
from queueing.core.names import Key, QueueName, ResourceName, Uid, namespace_of
from queueing.core.placement.moving import Moving
from queueing.core.placement.placing import Placing
from queueing.core.preemption.classical import classical_targets
from queueing.core.preemption.limits import Bounds
from queueing.core.preemption.query import Preemptor, Target
from queueing.core.preemption.reach import Reach
from queueing.core.preemption.search import Strategy, VictimSearch
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.selectors import selects
from queueing.core.settings import Settings
from queueing.core.sharing import Commons
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.usage import placed
from queueing.core.usage import Demand

NEVER = PreemptionPolicy.NEVER
TRY_NEXT_FLAVOR = FlavorPolicy.TRY_NEXT_FLAVOR
_FAILED = frozenset((CheckPhase.RETRY, CheckPhase.REJECTED))
Pending = Callable[[QueueName, ResourceName, int], int]
"""Returns how much of an amount the workloads of a queue that compete for its turn may take, with
requests that are no larger than it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All that a round depends on besides its heads. Only the tree is changed, and restored."""

    tree: QuotaTree
    rules: Mapping[QueueName, QueueRules]
    holders: Holders
    settings: Settings
    unready: frozenset[QuotaNode] = frozenset()
    """Roots of trees in which admission waits until pods of admitted workloads are ready."""
    now: float = 0.0
    """Epoch seconds."""
    bounds: Bounds = field(default_factory=dict)
    """Queues and cohorts that limit concurrent preemptions."""
    patience: Patiences = field(default_factory=dict)
    """What credits add to preemption by shares, by root; empty without credits."""
    followed: frozenset[QueueName] = frozenset()
    """Queues in which others wait behind the head; used only where credits bend weights."""
    allowance: Allowance | None = None
    """What budgets leave, and the rule for workloads that may not borrow; admissions lower it."""
    pending: Pending = lambda *_: 0
    leaving: bool = False
    """Whether any victim was evicted and still holds quota."""
    movable: Callable[[Key, Key], WorkloadFact | None] = lambda *_: None
    """Returns the fact of the second of two workloads if it holds quota, would be judged again at
    once if it was stopped for the first, and has not failed to save since it started; else None."""
    preempted_for: Sequence[Occupancy] = ()
    """Places for which second passes preempted others in this cycle, so that no head gets them;
    with promises they are charged anyway."""
    credited: frozenset[QueueName] = frozenset()
    """Queues in which credits order the LocalQueues, also for the choice of victims."""

    def reach(self) -> Reach:
        """Return a new reach, for the usage as it is now."""
        return Reach(by_shares=self.settings.fair_sharing is not None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a workload is not judged, and how it is requeued meanwhile."""

    reason: Reason
    message: str
    requeue: Requeue


def refusal(
    workload: WorkloadFact,
    queue: ClusterQueueFact,
    namespaces: Mapping[str, NamespaceFact],
) -> Refusal | None:
    """Return why a workload must not be judged now; None if it may be.

    A namespace that is unknown is taken to have only the label with its name.
    """
    if workload.checks and any(one.state in _FAILED for one in workload.checks):
        text = "The workload has failed admission checks"
        return Refusal(Reason.PENDING_EVALUATION, text, _retry(queue))
    selector = queue.namespace_selector
    if selector is None or selector.requirements:
        name = namespace_of(workload.key)
        known = namespaces.get(name)
        labels = {"kubernetes.io/metadata.name": name} if known is None else known.labels
        if not selects(selector, labels):
            text = "workload namespace doesn't match ClusterQueue selector"
            return Refusal(Reason.MISCONFIGURED, text, Requeue.INADMISSIBLE)
    if workload.misconfigured:
        return Refusal(Reason.MISCONFIGURED, workload.misconfigured, _retry(queue))
    return None


def _retry(queue: ClusterQueueFact) -> Requeue:
    strict = queue.strategy is QueueStrategy.STRICT_FIFO
    return Requeue.IMMEDIATE if strict else Requeue.INADMISSIBLE


def nominate(
    head: Head, world: World, reach: Reach, *, spared: frozenset[Uid] = frozenset()
) -> Entry:
    """Assign flavors to a head and, if it needs preemption, find victims other than the `spared`.

    With partial admission, the number of pods is reduced as little as makes the workload fit, by
    preemption if need be. If nothing helps, the full assignment is returned without targets. Heads
    that are nominated on the same usage share `reach`. An assignment that budgets bar counts as not
    fitting; one that they demote has no victims.
    """
    allowance, claims = world.allowance, head.demand.claims
    commons = world.holders.commons(head.queue, sorted(claims)) if claims else None
    entry = None
    if head.progress is None and head.nominated is None and commons is None:
        entry = _plainly(head, world)
    if entry is None:
        entry = _nominate(head, world, reach, spared=spared, commons=commons)
    if commons is not None:
        entry.partners = commons.users
    if allowance is None:
        return entry
    entry = _within_means(entry, allowance)
    progress, barred = entry.assignment.progress, entry.barred or entry.barred_before
    if progress is not None and barred is not None:
        entry.assignment.progress = replace(progress, barred=barred)
    return entry


def _within_means(entry: Entry, allowance: Allowance) -> Entry:
    """Note whether budgets or rules bar an entry, or demote it to the lowest priority."""
    if not entry.assignment.fits and not entry.targets:
        return entry
    head, use = entry.head, entry.assignment.use
    entry.barred = allowance.bars(head.workload, head.queue, use)
    if entry.barred is None:
        entry.demoted = allowance.demotes(head.workload, head.queue, use)
    if entry.demoted is not None:
        entry.head = replace(head, workload=replace(head.workload, priority=LOWEST_PRIORITY))
        entry.targets = ()
    return entry


def _plainly(head: Head, world: World) -> Entry | None:
    """Nominate a head in the common case: the first flavor that its pods may use has enough.

    Then the search would stop at once, and its answer depends only on the demand and on how far up
    the tree each resource borrows. So each answer is found once and stored with the outline; it is
    shared, and must not be changed. None where the search must be asked.
    """
    rules, node = world.rules[head.queue], world.tree.queue(head.queue)
    offer, demand = rules.offer, head.demand
    known = offer.outlines.get(demand.shape)
    outline = known or offer.outline(demand, world.settings.quota_check)
    if outline.wanted is None:
        return None
    levels: list[int] = []
    cells, borrows = node.cells, False
    for resource, amount in outline.wanted:
        cell = cells.get(resource) or node.cell(resource)
        if amount > cell.available():
            return None
        if cell.quota < cell.usage + amount:
            borrows = True
            levels.append(cell.height_of_fit(amount)[0])
        else:
            levels.append(0)
    if borrows and rules.fact.fungibility.when_can_borrow is TRY_NEXT_FLAVOR:
        return None
    key, generation = tuple(levels), node.root.generation
    found: Assignment | None = outline.fits.get(key)
    if found is None:
        search = Search(rules=rules, node=node, settings=world.settings)
        found = outline.fits[key] = search.assign(head.demand)
    if found.progress is not None and found.progress.generation != generation:
        # found in another tree, or before quotas changed: all else is the same
        found = replace(found, progress=replace(found.progress, generation=generation))
    if world.allowance is not None and not covers(world.allowance, head, found):
        return None
    # Where nothing is shared and no place was asked for, all of its usage is charged as it is.
    return Entry(head, rules, node, found, found.usage)


def covers(allowance: Allowance | None, head: Head, assignment: Assignment) -> bool:
    """Say whether budgets and rules allow an assignment."""
    return allowance is None or not allowance.bars(head.workload, head.queue, assignment.use)


def _nominate(
    head: Head, world: World, reach: Reach, *, spared: frozenset[Uid], commons: Commons | None
) -> Entry:
    """Nominate a head, before budgets are noted in the entry.

    Of ResourceClaims in use (`commons`) it is charged only what it adds, and it must not preempt
    their users.
    """
    rules, node = world.rules[head.queue], world.tree.queue(head.queue)
    if commons is not None:
        spared |= commons.users
    preemption = None
    if not rules.never_preempts:
        preemption = victim_search(head, world, reach, spared=spared | head.spared)
    places = rules.offer.outline(head.demand, world.settings.quota_check).places
    placing = Placing(rules, world.tree, world.settings, commons) if places else None
    search = Search(
        rules=rules, node=node, settings=world.settings, oracle=preemption, commons=commons
    )

    moving = None
    if placing is not None and world.settings.rules.moves:
        moving = Moving(
            node=node,
            priority=head.workload.priority,
            tree=world.tree,
            placing=placing,
            holders=world.holders,
            movable=partial(world.movable, head.workload.key),
            spared=spared | head.spared,
            now=world.now,
        )

    def judged(demand: Demand, *, reduced: bool = False) -> Entry:
        found = search.assign(demand, head.progress, head.nominated)
        if placing is not None:
            placing.complete(found)
        barred = reduced and found.needs_preemption and not covers(world.allowance, head, found)
        targets = [] if found.fits or barred else _targets(preemption, placing, moving, found)
        usage = found.charged if found.saved else found.usage
        if found.places:
            usage = placed(usage, found.occupancies())
        return Entry(head, rules, node, found, usage, targets)

    def helped(one: Entry) -> Entry | None:
        fits = one.assignment.fits or one.targets
        return one if fits and covers(world.allowance, head, one.assignment) else None

    full = judged(head.demand)
    if helped(full) or not (world.settings.partial_admission and head.demand.may_shrink):
        return full
    return largest_that_fits(head.demand, lambda one: helped(judged(one, reduced=True))) or full


def _targets(
    preemption: VictimSearch | None,
    placing: Placing | None,
    moving: Moving | None,
    assignment: Assignment,
) -> list[Target]:
    """Return the victims that an assignment needs, and reserve its places in a topology.

    Where nobody can be preempted, others may be moved.
    """
    if not assignment.needs_preemption:
        return []
    has_place = None if placing is None else placing.condition(assignment)
    targets = []
    if preemption is not None:
        targets = preemption.targets(assignment.charged, assignment.contested, has_place)
    if placing is not None:
        placing.reserve(assignment, [one.holder for one in targets])
    return targets or (moving.targets(assignment) if moving is not None else [])


def victim_search(
    head: Head, world: World, reach: Reach, *, spared: frozenset[Uid]
) -> VictimSearch:
    """Return what finds victims for a head, other than those who are spared."""
    settings, by_history = world.settings, world.settings.admission_fair_sharing is not None

    def takes_turns(queue: QueueName) -> bool:
        scoped = by_history and world.rules[queue].fact.admission_fair_sharing
        return scoped or queue in world.credited

    node, policies = world.tree.queue(head.queue), world.rules[head.queue].fact.preemption
    if head.is_behind and node.borrows(node.cells):
        policies = replace(policies, reclaim_within_cohort=NEVER)
    preemptor = Preemptor(
        priority=head.workload.priority,
        timestamp=head.timestamp,
        node=node,
        policies=policies,
        takes_turns=takes_turns,
        reach=reach,
        spared=spared,
        now=world.now,
        weighs_work=settings.rules.weighs_work,
        thorough=settings.rules.spares,
    )
    strategy: Strategy = classical_targets
    if settings.fair_sharing is not None:
        patience = NO_PATIENCE
        if world.patience:
            patience = world.patience.get(preemptor.node.root, NO_PATIENCE)
        strategy = partial(fair_targets, settings=settings.fair_sharing, patience=patience)
    return VictimSearch(
        preemptor=preemptor, tree=world.tree, holders=world.holders, strategy=strategy
    )
