"""All that the engine remembers, in one place; the modules beside this one work on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from queueing.core.decisions import Wait
from queueing.core.facts import WorkloadFact
from queueing.core.fair_sharing.shares import weighted_share
from queueing.core.holders import Holder
from queueing.core.names import Key, QueueName, Uid
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.core.recall import Recall
from queueing.core.settings import Compatibility, Settings
from queueing.core.usage import Demand, Shape, demand_of
from queueing.state.credits.credits import Credits
from queueing.state.memory.claims import Claims
from queueing.state.memory.feuds import Feuds
from queueing.state.memory.objects import Objects
from queueing.state.memory.story import Stories
from queueing.state.memory.views import Active
from queueing.state.queues.lines import Line
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.pending import PendingQueue
from queueing.state.usage.changes import UsageChanges
from queueing.state.usage.ledger import Ledger
from queueing.state.usage.turns import Turns

SHAPES_MAX = 65_536
"""Shapes whose demands are shared; the memo starts over when it is full."""


@dataclass(frozen=True, slots=True)
class Held:
    """A workload that is in no queue, with the reason. `counted` ones show as pending even so."""

    wait: Wait
    local_queue: Key | None
    counted: bool
    until: float | None = None
    """When it may be tried again by itself; None where only a fact can tell."""


@dataclass(slots=True)
class Touched:
    """Names of queues whose view (status, metrics) may have changed since it was last read."""

    queues: set[QueueName] = field(default_factory=set)
    local_queues: set[Key] = field(default_factory=set)
    charged: set[QueueName] = field(default_factory=set)
    """ClusterQueues whose usage changed: the views of their cohorts changed with it."""


@dataclass(slots=True)
class Memory:
    """The engine's memory. Times are seconds since the epoch."""

    settings: Settings
    tree: QuotaTree
    objects: Objects
    ledger: Ledger
    as_kueue: bool = False
    """Whether the rules of Kueue mode hold: asked at every turn, so it is looked up once."""
    claims: Claims = field(default_factory=Claims)
    credits: Credits = field(default_factory=Credits)
    stories: Stories = field(default_factory=Stories)

    # Every workload, whatever its state.
    workloads: dict[Key, WorkloadFact] = field(default_factory=dict)
    uids: dict[Uid, Key] = field(default_factory=dict)
    behind: dict[Key, dict[Key, None]] = field(default_factory=dict)
    """LocalQueue → the workloads that name it."""
    demands: dict[Shape, Demand] = field(default_factory=dict)
    """A memo: workloads of equal shape share one `Demand` object."""

    # Workloads that wait in a queue.
    queues: dict[QueueName, PendingQueue] = field(default_factory=dict)
    items: dict[Key, Item] = field(default_factory=dict)
    ready: set[QueueName] = field(default_factory=set)
    """Queues that may have a head to judge; only ever iterated sorted."""
    fickle: dict[QueueName, None] = field(default_factory=dict)
    """Queues that may contain fickle peers: even an admission of another may help these."""
    kept_off: dict[QueueName, None] = field(default_factory=dict)
    """Queues that may contain peers which would fit, were it not for somebody who stands."""

    # Workloads that must not be tried yet, and so are in no queue.
    held: dict[Key, Held] = field(default_factory=dict)
    counted: dict[Key, int] = field(default_factory=dict)
    """LocalQueue → how many held workloads of it count as pending."""
    timers: list[tuple[float, Key]] = field(default_factory=list)
    """A heap: when held workloads may be tried again."""
    announcements: dict[Key, None] = field(default_factory=dict)
    """Workloads whose reason for not being in a queue is still to be told, in the next cycle."""

    # Decisions on their way to the API server.
    assumed_from: dict[Key, WorkloadFact] = field(default_factory=dict)
    """Assumed admissions: the fact that the workload had when it was admitted."""
    unknown: set[Key] = field(default_factory=set)
    """Assumed admissions whose write had no clear outcome: only the next fact can tell."""
    refusals: dict[Key, int] = field(default_factory=dict)
    """How often in a row the API server refused a decision on a workload."""
    delays: dict[Key, float] = field(default_factory=dict)
    """Workloads to hold back after a refusal, for so many seconds from the next cycle on."""
    punished: dict[Key, float] = field(default_factory=dict)
    """The same once that cycle has begun: until when a workload is held back."""

    # Preemption that takes more than one cycle.
    standing: dict[Key, None] = field(default_factory=dict)
    """Workloads that wait and keep those after them in the order off what they wait for."""
    overtaken: dict[Key, None] = field(default_factory=dict)
    """The part of `standing` that keeps nobody off for now, because others come before it."""
    stepped_down: dict[tuple[Key, bool], None] = field(default_factory=dict)
    """Who made room for those kept off since the last fact: by standing no more (True), or by
    giving way for now (False). Each of these wakes others only once between two facts."""
    searching: dict[Key, None] = field(default_factory=dict)
    """Who stands and was woken, since the last fact, to try its remaining flavors as a head."""
    unsettled: dict[Node, None] = field(default_factory=dict)
    """Trees in which somebody was admitted after those who stand there were judged."""
    filled: dict[Node, None] = field(default_factory=dict)
    """Trees in which somebody was admitted after those who are kept off there were judged."""
    reviewed: dict[Node, None] = field(default_factory=dict)
    """Trees in which all who may preempt were judged once more since the last fact."""
    unreviewed: dict[Node, None] = field(default_factory=dict)
    """Trees with standing workloads in which a round was decided, not yet among `reviewed`."""
    drained: dict[Key, None] = field(default_factory=dict)
    """Preemptors of whose victims at least one gave its quota back."""
    feuds: dict[Node, Feuds] = field(default_factory=dict)
    """Root of a tree → who was preempted for whom, since the tree last changed from outside."""
    named: dict[Uid, dict[Key, None]] = field(default_factory=dict)
    """Preemptor → its evicted victims that still hold quota, as their statuses name it."""
    named_by: dict[Key, Uid] = field(default_factory=dict)
    """The same by victim."""
    protected: list[tuple[float, Key]] = field(default_factory=list)
    """A heap: when workloads that hold quota will have run for their minimum runtime."""

    # Pods that are not ready.
    unready: set[Key] = field(default_factory=set)
    """Admitted workloads whose pods are not ready; in Kueue mode all that hold quota."""
    pods_turned_ready: bool = False

    # Within one cycle, and from one portion of a cycle to the next.
    withheld: dict[QueueName, UsageChanges] = field(default_factory=dict)
    """What the hopeless heads of a round did that the budget interrupted, until it is decided."""
    recalls: dict[Node, Recall] = field(default_factory=dict)
    """Trees in which somebody stands → what rounds found there since anything last changed."""
    is_cut: bool = False
    """Whether the budget ended the last portion before all was judged."""
    releases: dict[QueueName, int] = field(default_factory=dict)
    """How often a workload of each queue gave quota back, or budgets were loosened: then all
    flavors are worth a new try."""
    clock: float = float("-inf")
    """The latest `now`."""
    cycles: int = 0
    cursor: str = ""
    """Name of the root at which a cycle that ran out of budget goes on."""

    # Derived from queues, cohorts, flavors and namespaces; what changed of these.
    roots: dict[QueueName, Node] = field(default_factory=dict)
    members: dict[Node, list[QueueName]] = field(default_factory=dict)
    """Root → the queues of its tree."""
    generations: dict[Node, int] = field(default_factory=dict)
    """Root → the generation of its tree when `roots` was worked out."""
    open_local_queues: set[tuple[QueueName, Key | None]] = field(default_factory=set)
    """A memo: LocalQueues whose namespace matches the selector of the ClusterQueue."""
    lines: dict[QueueName, Line] = field(default_factory=dict)
    """A memo: active queues in which all who wait stand on one shelf."""
    active: dict[QueueName, Active] = field(default_factory=dict)
    """Whether each ClusterQueue was active when last looked at, and if not, why."""
    reshaped: bool = False
    """Whether the quota tree may have changed since `roots` was worked out."""
    refitted: dict[QueueName, None] = field(default_factory=dict)
    """Queues whose flavors, checks or activity changed."""
    relabelled: dict[str, None] = field(default_factory=dict)
    """Namespaces whose labels changed."""
    touched: Touched = field(default_factory=Touched)

    @classmethod
    def empty(cls, settings: Settings) -> "Memory":
        """Know nothing yet."""
        tree = QuotaTree()
        shared = settings.admission_fair_sharing
        ledger = Ledger(tree, None if shared is None else Turns(shared))
        made = cls(settings=settings, tree=tree, objects=Objects(tree), ledger=ledger)
        made.as_kueue = settings.compatibility is Compatibility.KUEUE
        made.credits.queue_books.sharers = made.objects.sharers
        made.credits.find_queues_by(made.objects.queue_behind)
        ledger.on_price = made.note_price
        return made

    def queue(self, name: QueueName) -> PendingQueue:
        """Return the pending workloads of a ClusterQueue, known or not."""
        found = self.queues.get(name)
        if found is None:
            found = self.queues[name] = PendingQueue(name, partial(self.claimants_in, name))
            self.divide(found)
        return found

    def claimants_in(self, name: QueueName) -> list[Item]:
        """Return who in a queue owns a claim; nobody's is heeded in Kueue mode."""
        if self.as_kueue:
            return []
        return [self.items[key] for key in self.claims.owners_in(name)]

    def demand(self, fact: WorkloadFact) -> Demand:
        """Return what a workload asks for; those of one shape share one demand."""
        made = demand_of(fact)
        if len(self.demands) >= SHAPES_MAX:
            self.demands.clear()
        return self.demands.setdefault(made.shape, made)

    def divide(self, queue: PendingQueue) -> None:
        """Let the LocalQueues of a ClusterQueue take turns, if that is how it admits."""
        rank = self.ledger.ranks.get(queue.name)
        queue.divide(self.plain_turns(queue.name) if rank is None else rank.key)

    def plain_turns(self, queue: QueueName) -> Callable[[Key | None], float] | None:
        """Return by what the LocalQueues of a ClusterQueue take turns without credits, if any."""
        fact = self.objects.queues.get(queue)
        turns = self.ledger.turns
        shared = turns is not None and fact is not None and fact.admission_fair_sharing
        return turns.usage if turns is not None and shared else None

    def touch(self, queue: QueueName | None, local_queue: Key | None) -> None:
        """Note that views of a queue and of a LocalQueue may differ."""
        if queue is not None:
            self.touched.queues.add(queue)
        if local_queue is not None:
            self.touched.local_queues.add(local_queue)

    def note_price(self, holder: Holder) -> None:
        """Note that a workload is charged something else though nothing is new of itself."""
        self.touch(holder.queue, holder.local_queue)
        if self.credits.any:
            self.credits.stir(holder.key)

    def share(self, node: Node) -> int:
        """Return the weighted share of a node, as status shows it; 0 without fair sharing."""
        return 0 if self.settings.fair_sharing is None else weighted_share(node)

    def wake(self, item: Item) -> None:
        """Make the peers of an item READY, so that they are judged again."""
        if item.peers is not None:
            self.wake_peers(item.peers)

    def step_down(self, key: Key) -> None:
        """Let a workload stand no more, and wake those whom it kept off; Kueue wakes nobody.

        It wakes them once between two facts. Otherwise two that keep each other off by turns would
        never let a cycle end.
        """
        if key not in self.standing:
            return  # nor does it claim anything, or is it overtaken
        del self.standing[key]
        self.claims.drop(key)
        self.overtaken.pop(key, None)
        if self.as_kueue or (key, True) in self.stepped_down:
            return
        item = self.items.get(key)
        if item is not None and item.peers is not None:
            self.stepped_down[key, True] = None
            self.ledger.changes.release(item.peers.queue, item.wants)

    def overtake(self, first: Item) -> None:
        """Wake those kept off by the head of a strict queue that `first` now comes before."""
        for key in self.standing:
            other, peers = self.items[key], self.items[key].peers
            if peers is None or first.peers is None or other is first:
                continue
            if first.peers.queue == peers.queue:
                self.ledger.changes.release(peers.queue, other.wants)

    def make_peace(self, queue: QueueName, *, ended: bool) -> None:
        """Note that something ended in a tree, or a victim left: see `feuds`."""
        root = self.roots.get(queue)
        feuds = self.feuds.get(root) if root is not None else None
        if root is None or feuds is None:
            return
        feuds.settle(self.is_leaving, ended=ended)
        if not feuds:
            del self.feuds[root]

    def is_leaving(self, uid: Uid) -> bool:
        """Say whether a workload was evicted and still holds quota."""
        charge = self.ledger.charges.get(self.uids.get(uid, Key("")))
        return charge is not None and charge.holder.evicted

    def victim_changed(self, victim: Key, *, spared: bool = False) -> None:
        """Note that a victim gave its quota back, or is `spared`: its preemptor tries again."""
        for claim in self.claims.drained(victim):
            self.drained[claim.owner] = None
            item = self.items.get(claim.owner) if spared else None
            if item is not None:
                self.wake(item)

    def wake_preemptors(self, victim: Key) -> None:
        """Wake those who wait for a victim that they might not choose again."""
        for owner in self.claims.owners_of(victim):
            item = self.items.get(owner)
            if item is not None:
                self.wake(item)

    def wake_peers(self, peers: Peers, *, doubtful: bool = False) -> None:
        """Make peers READY, so that they are judged again. See `Peers.doubtful`."""
        if self.queues[peers.queue].wake(peers, doubtful=doubtful):
            self.ready.add(peers.queue)
            self.touch(peers.queue, peers.local_queue)
