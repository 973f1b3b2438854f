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
"""How many shapes of workloads the memo `demands` holds; it is emptied when it is full."""


@dataclass(frozen=True, slots=True)
class Held:
    """A workload that must not be tried yet and so is in no queue, with the reason."""

    wait: Wait
    local_queue: Key | None
    counted: bool
    """Whether it counts as pending and inadmissible all the same, as a workload in backoff does."""
    until: float | None = None
    """When it may be tried again without a new fact; None if only a fact can change that."""


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
    """Whether `settings.compatibility` is Kueue; stored because it is needed everywhere."""
    claims: Claims = field(default_factory=Claims)
    credits: Credits = field(default_factory=Credits)
    stories: Stories = field(default_factory=Stories)

    # Every workload, whatever its state.
    workloads: dict[Key, WorkloadFact] = field(default_factory=dict)
    uids: dict[Uid, Key] = field(default_factory=dict)
    behind: dict[Key, dict[Key, None]] = field(default_factory=dict)
    """LocalQueue → the workloads that name it, in any state."""
    demands: dict[Shape, Demand] = field(default_factory=dict)
    """A memo: workloads of equal shape share one `Demand` object."""

    # Workloads that wait in a queue.
    queues: dict[QueueName, PendingQueue] = field(default_factory=dict)
    items: dict[Key, Item] = field(default_factory=dict)
    ready: set[QueueName] = field(default_factory=set)
    """Queues that may have a head to judge; only ever iterated sorted."""
    fickle: dict[QueueName, None] = field(default_factory=dict)
    """Queues that may contain fickle peers: even the admission of another workload may help these.
    """
    kept_off: dict[QueueName, None] = field(default_factory=dict)
    """Queues that may contain peers which would fit if no quota were kept for standing workloads.
    """

    # Workloads that must not be tried yet, and so are in no queue.
    held: dict[Key, Held] = field(default_factory=dict)
    counted: dict[Key, int] = field(default_factory=dict)
    """LocalQueue → how many held workloads of it count as pending."""
    timers: list[tuple[float, Key]] = field(default_factory=list)
    """A heap: when held workloads may be tried again."""
    announcements: dict[Key, None] = field(default_factory=dict)
    """Workloads whose reason for not being queued is to be returned by the next cycle."""

    # Decisions on their way to the API server.
    assumed_from: dict[Key, WorkloadFact] = field(default_factory=dict)
    """Assumed admissions: the fact that the workload had when it was admitted."""
    unknown: set[Key] = field(default_factory=set)
    """Workloads with an assumed admission or eviction whose write had no clear outcome. Their next
    fact shows what is true."""
    refusals: dict[Key, int] = field(default_factory=dict)
    """How often in a row the API server refused a decision on a workload."""
    delays: dict[Key, float] = field(default_factory=dict)
    """Workloads to hold back after a refusal, for so many seconds from the next cycle on."""
    punished: dict[Key, float] = field(default_factory=dict)
    """The same once that cycle has begun: until when a workload is held back."""

    # Preemption that takes more than one cycle.
    standing: dict[Key, None] = field(default_factory=dict)
    """Pending workloads for which quota is kept from those after them in the order of entries."""
    overtaken: dict[Key, None] = field(default_factory=dict)
    """The standing workloads for which no quota is kept for now, because others come before them.
    """
    stepped_down: dict[tuple[Key, bool], None] = field(default_factory=dict)
    """Workloads that woke others since the last fact: (key, True) by ceasing to stand, (key, False)
    by giving way for now. Each wakes others only once between two facts, and once more when its
    tree is judged as by a new leader (`reviewed`)."""
    searching: dict[Key, None] = field(default_factory=dict)
    """Standing workloads woken since the last fact, to try their remaining flavors as a head."""
    unsettled: dict[Node, None] = field(default_factory=dict)
    """Roots of trees with an admission after the standing workloads there were judged."""
    filled: dict[Node, None] = field(default_factory=dict)
    """Roots of trees with an admission after the workloads kept off there were judged."""
    reviewed: dict[Node, None] = field(default_factory=dict)
    """Roots of trees in which all possible preemptors were judged once more since the last fact."""
    unreviewed: dict[Node, None] = field(default_factory=dict)
    """Roots of trees in which a round was decided while workloads were standing, not yet among
    `reviewed`."""
    drained: dict[Key, None] = field(default_factory=dict)
    """Preemptors with a victim that gave its quota back since the last `wake_waiting`."""
    feuds: dict[Node, Feuds] = field(default_factory=dict)
    """Root of a tree → its feuds since the tree last changed from outside."""
    named: dict[Uid, dict[Key, None]] = field(default_factory=dict)
    """Preemptor → evicted workloads whose `Preempted` conditions name it: see `intake.marks`."""
    named_by: dict[Key, Uid] = field(default_factory=dict)
    """The same by victim: the preemptor that its condition names."""
    protected: list[tuple[float, Key]] = field(default_factory=list)
    """A heap of (time, workload): when the minimum runtime of workloads that hold quota ends."""

    # Pods that are not ready.
    unready: set[Key] = field(default_factory=set)
    """Admitted workloads whose pods are not ready; in Kueue mode all that hold quota."""
    pods_turned_ready: bool = False
    """Whether a workload left `unready` since the last `wake_waiting`."""

    # Within one cycle, and from one portion of a cycle to the next.
    withheld: dict[QueueName, UsageChanges] = field(default_factory=dict)
    """Usage changes made by the hopeless heads of a round that the budget interrupted. They are
    kept back until that round is decided."""
    recalls: dict[Node, Recall] = field(default_factory=dict)
    """Root of a tree with standing workloads → what rounds found there since its last change."""
    is_cut: bool = False
    """Whether the last call of `run_cycle` ran out of budget before all heads were judged."""
    releases: dict[QueueName, int] = field(default_factory=dict)
    """ClusterQueue → how often one of its workloads gave quota back, or budgets were loosened. A
    search over flavors begins anew when that number has changed."""
    judged: dict[QueueName, int] = field(default_factory=dict)
    """Kueue mode: ClusterQueue → in how many rounds one of its workloads was judged."""
    clock: float = float("-inf")
    """The time of the current cycle: the latest `now`, see `STILL_S` in `cycle.beginning`."""
    cycles: int = 0
    cursor: str = ""
    """Path of the root at which the next round of a cycle that ran out of budget begins."""

    # Derived from queues, cohorts, flavors and namespaces; what changed of these.
    roots: dict[QueueName, Node] = field(default_factory=dict)
    members: dict[Node, list[QueueName]] = field(default_factory=dict)
    """Root → the queues of its tree."""
    generations: dict[Node, int] = field(default_factory=dict)
    """Root → the generation of its tree when `roots` was worked out."""
    open_local_queues: set[tuple[QueueName, Key | None]] = field(default_factory=set)
    """A memo: LocalQueues whose namespace matches the selector of the ClusterQueue."""
    lines: dict[QueueName, Line] = field(default_factory=dict)
    """A memo: the lines of active queues whose pending workloads are all on one shelf."""
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
        """Return the memory of a new engine, to which no fact is known."""
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
        """Return the pending workloads of a ClusterQueue, which need not exist (yet)."""
        found = self.queues.get(name)
        if found is None:
            found = self.queues[name] = PendingQueue(name, partial(self.claimants_in, name))
            self.divide(found)
        return found

    def claimants_in(self, name: QueueName) -> list[Item]:
        """Return the workloads of a queue that own a claim; none in Kueue mode."""
        if self.as_kueue:
            return []
        return [self.items[key] for key in self.claims.owners_in(name)]

    def demand(self, fact: WorkloadFact) -> Demand:
        """Return what a workload requests; workloads of equal shape share one object."""
        made = demand_of(fact)
        if len(self.demands) >= SHAPES_MAX:
            self.demands.clear()
        return self.demands.setdefault(made.shape, made)

    def divide(self, queue: PendingQueue) -> None:
        """Set how the LocalQueues of a queue take turns: by credits, usage histories or not."""
        rank = self.ledger.ranks.get(queue.name)
        queue.divide(self.plain_turns(queue.name) if rank is None else rank.key)

    def plain_turns(self, queue: QueueName) -> Callable[[Key | None], float] | None:
        """Return the usage by which LocalQueues of a ClusterQueue take turns without credits.

        None unless the ClusterQueue uses admission fair sharing.
        """
        fact = self.objects.queues.get(queue)
        turns = self.ledger.turns
        shared = turns is not None and fact is not None and fact.admission_fair_sharing
        return turns.usage if turns is not None and shared else None

    def touch(self, queue: QueueName | None, local_queue: Key | None) -> None:
        """Note that the views of a ClusterQueue and of a LocalQueue may have changed."""
        if queue is not None:
            self.touched.queues.add(queue)
        if local_queue is not None:
            self.touched.local_queues.add(local_queue)

    def note_price(self, holder: Holder) -> None:
        """Note that a workload's charge changed because of others that use its ResourceClaims."""
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
        """End a workload's standing and its claim, and wake the workloads that it kept off.

        It wakes them once between two facts. Otherwise two workloads that keep each other off by
        turns would never let a cycle end. In Kueue mode nothing is woken.
        """
        if key not in self.standing:
            return  # then it owns no claim and is not overtaken, either
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
        """Wake the workloads kept off by heads of a StrictFIFO queue that `first` comes before now.

        Called when `first` came into the queue, at its front.
        """
        for key in self.standing:
            other, peers = self.items[key], self.items[key].peers
            if peers is None or first.peers is None or other is first:
                continue
            if first.peers.queue == peers.queue:
                self.ledger.changes.release(peers.queue, other.wants)

    def make_peace(self, queue: QueueName, *, ended: bool) -> None:
        """Note for the feuds of a queue's tree that a workload `ended` or a victim left."""
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
        """Remove a victim that gave its quota back, or is `spared`, from the claims on it.

        The preemptors of a spared victim are woken at once; the others by `wake_waiting`, when
        their demand is free or no victim is left.
        """
        for claim in self.claims.drained(victim):
            self.drained[claim.owner] = None
            item = self.items.get(claim.owner) if spared else None
            if item is not None:
                self.wake(item)

    def wake_preemptors(self, victim: Key) -> None:
        """Wake the preemptors of a victim, because now they might choose other victims."""
        for owner in self.claims.owners_of(victim):
            item = self.items.get(owner)
            if item is not None:
                self.wake(item)

    def wake_peers(self, peers: Peers, *, doubtful: bool = False) -> None:
        """Make peers READY, so that they are judged again; see `Peers.doubtful`."""
        if self.queues[peers.queue].wake(peers, doubtful=doubtful):
            self.ready.add(peers.queue)
            self.touch(peers.queue, peers.local_queue)
