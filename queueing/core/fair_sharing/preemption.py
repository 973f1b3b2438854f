"""Preemption by shares (KEP-1714): the rules with fair sharing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import PreemptionPolicy
from queueing.core.fair_sharing.candidate_queues import (
    CandidateQueue,
    CandidateQueues,
    RankedCandidate,
)
from queueing.core.fair_sharing.patience import NO_PATIENCE, Patience
from queueing.core.fair_sharing.shares import Share, Shares
from queueing.core.fair_sharing.sparing import Fairness, Rules, below_common, spare_fairly
from queueing.core.holders import Holder, Holders
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.preemption.candidates import eligible, takes_turns, turn
from queueing.core.preemption.cost import cost, is_protected, weighs
from queueing.core.preemption.query import Query, Target
from queueing.core.preemption.room import Room
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.settings import FairSharing

Rule = Callable[[Share, Share, Share], bool]
"""Says whether a victim may be chosen, by three shares: that of the preemptor with its requests,
that of the target before, and that of the target without the victim."""

FINAL_SHARE = "LessThanOrEqualToFinalShare"
INITIAL_SHARE = "LessThanInitialShare"

SEARCHES_MAX = 4
"""How often victims are searched for, each time without those that could reclaim their quota."""

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        FINAL_SHARE: lambda preemptor, _, target_after: preemptor <= target_after,
        INITIAL_SHARE: lambda preemptor, target_before, _: preemptor < target_before,
    }
)


def fair_targets(
    query: Query,
    tree: QuotaTree,
    holders: Holders,
    *,
    settings: FairSharing,
    patience: Patience = NO_PATIENCE,
) -> list[Target]:
    """Return victims by the configured strategies without which the preemptor fits, if any."""
    if not settings.strategies or not query.may_succeed(holders):
        return []
    found = _candidates(query, holders)
    for _ in range(SEARCHES_MAX if found else 0):
        with tree.attempt():
            search = _Search(query, tree, settings, patience)
            leftovers = search.by_first_rule(found, RULES[settings.strategies[0]])
            if not search.fits and len(settings.strategies) > 1:
                search.by_initial_share(leftovers)
            targets, returning = search.result()
        if not returning:
            return targets
        found = [one for one in found if one.holder.uid not in returning]
    return []


class _Search:
    """A search for victims on a tree to which the preemptor is charged as if it were admitted."""

    __slots__ = ("_patience", "_query", "_room", "_rules", "_shares", "_tree", "fits", "targets")

    def __init__(
        self, query: Query, tree: QuotaTree, settings: FairSharing, patience: Patience
    ) -> None:
        self._query = query
        self._patience = patience
        self._tree = tree
        self._room = Room(tree, query)
        self._room.take()
        self._shares = Shares()
        self._rules = Rules(
            final=FINAL_SHARE in settings.strategies,
            initial=INITIAL_SHARE in settings.strategies,
            within_nominal=settings.preempt_within_nominal,
            by_right=settings.preempt_within_nominal
            and not query.preemptor.node.borrows(query.contested),
            patience=patience,
        )
        self.fits = False
        self.targets: list[Target] = []

    def by_first_rule(self, found: Sequence[RankedCandidate], rule: Rule) -> list[RankedCandidate]:
        """Choose victims until the preemptor fits; return the refused, if another rule may help."""
        own = self._query.preemptor.node
        queues = CandidateQueues(own, found, self._shares)
        spared: list[RankedCandidate] = []
        outdone: list[RankedCandidate] = []
        while not self.fits and (queue := queues.next()) is not None:
            if queue.node is own:
                self._take(queues, queue.candidates.pop(0), PreemptionReason.IN_CLUSTER_QUEUE)
            elif self._rules.by_right:
                self._take(queues, queue.candidates.pop(0), PreemptionReason.IN_COHORT_RECLAMATION)
            else:
                self._take_by(rule, queues, queue, (spared, outdone))
        return [*spared, *outdone] if self.targets or spared else []

    def by_initial_share(self, found: Sequence[RankedCandidate]) -> None:
        """Choose one refused candidate of each queue whose share is larger, until it fits."""
        own = self._query.preemptor.node
        queues = CandidateQueues(own, found, self._shares)
        while not self.fits and (queue := queues.next()) is not None:
            mine, theirs = below_common(own, queue.node)
            demanded = self._patience.demanded(queues.share(mine), mine, theirs)
            if demanded < queues.share(theirs) and self._skip_protected(queue):
                self._take(queues, queue.candidates.pop(0), PreemptionReason.IN_COHORT_FAIR_SHARING)
            queue.candidates.clear()

    def result(self) -> tuple[list[Target], frozenset[Uid]]:
        """Return the victims that are needed, and the uids of those that could reclaim their quota.

        Both are empty if the preemptor does not fit. In Kueue mode the sparing of victims does not
        check that the others are still chosen fairly, and the second value is empty.
        """
        if not self.fits:
            return [], frozenset()
        if self._query.preemptor.thorough:
            balance = Fairness(self._query, self._tree, self._room, self._rules)
            kept = spare_fairly(self.targets, balance, self._room)
            return kept, frozenset(one.holder.uid for one in kept if balance.lets_return(one))
        self._room.leave()
        return self._room.fill_back(self.targets, borrowing=True), frozenset()

    def _take_by(
        self,
        rule: Rule,
        queues: CandidateQueues,
        queue: CandidateQueue,
        refused: tuple[list[RankedCandidate], list[RankedCandidate]],
    ) -> None:
        """Choose a queue's first candidate that the rule allows; add those before it to `refused`.

        They go to its second list if the target's share is too small even with all its workloads:
        no rule allows them then until shares change.
        """
        mine, theirs = below_common(self._query.preemptor.node, queue.node)
        new, before = queues.share(mine), queues.share(theirs)
        new = self._patience.demanded(new, mine, theirs)
        spared, outdone = refused
        if not rule(new, before, before):
            outdone += (one for one in queue.candidates if not self._is_protected(one.holder))
            queue.candidates.clear()
            return
        vain: Mapping[FlavorResource, int] | None = None
        while self._skip_protected(queue):
            one = queue.candidates.pop(0)
            if one.holder.usage != vain:
                self._room.clear(one.holder)
                after = self._shares.of(theirs)
                self._room.restore(one.holder)
                if rule(new, before, after):
                    self._take(queues, one, PreemptionReason.IN_COHORT_FAIR_SHARING)
                    return
                vain = one.holder.usage
            spared.append(one)

    def _skip_protected(self, queue: CandidateQueue) -> bool:
        """Drop protected candidates at the front of a queue; say whether any is left."""
        while queue.candidates:
            if not self._is_protected(queue.candidates[0].holder):
                return True
            queue.candidates.pop(0)
        return False

    def _is_protected(self, holder: Holder) -> bool:
        return self._patience.protects(holder) or is_protected(holder, self._query)

    def _take(
        self, queues: CandidateQueues, one: RankedCandidate, reason: PreemptionReason
    ) -> None:
        self._room.clear(one.holder)
        queues.changed(one.node)
        self.targets.append(Target(one.holder, reason))
        self.fits = self._room.fits_beside_itself()


def _candidates(query: Query, holders: Holders) -> list[RankedCandidate]:
    """Return all candidates: of the own queue, and of borrowing queues anywhere in the tree.

    Order: evicted or promised ones, those of other queues, lower priority, lower cost of stopping
    if any cost is known, later reservation, uid. Where LocalQueues take turns, the larger usage
    comes before priority within a queue.
    """
    own = query.preemptor.node
    queues = list(_exposed(query))
    exposed = [
        (node, holder)
        for node, policy in queues
        for holder in eligible(holders.holders(QueueName(node.name)), policy, query)
        if node is not own or not is_protected(holder, query)
    ]
    weighed = weighs(query, (holder for _, holder in exposed))
    found: list[RankedCandidate] = []
    for node, holder in exposed:
        place = (
            holder.runs,
            node is own,
            holder.priority,
            cost(holder, query) if weighed and holder.runs else 0.0,
            -holder.reserved_at,
            holder.uid,
        )
        found.append(RankedCandidate(place, node, holder))
    found.sort(key=itemgetter(0))
    turning = {node for node, _ in queues if takes_turns(query, node)}
    if turning:  # of each queue only the order within counts from here on
        found.sort(
            key=lambda one: turn(one.holder, holders) if one.node in turning else (False, 0.0)
        )
    return found


def _exposed(query: Query) -> Iterator[tuple[QuotaNode, PreemptionPolicy]]:
    own, policies = query.preemptor.node, query.preemptor.policies
    if policies.within_cluster_queue is not PreemptionPolicy.NEVER:
        yield own, policies.within_cluster_queue
    if own.parent is not None and policies.reclaim_within_cohort is not PreemptionPolicy.NEVER:
        for node in query.preemptor.reach.borrowing(own.root):
            if node is not own and node.borrows(query.contested):
                yield node, policies.reclaim_within_cohort
