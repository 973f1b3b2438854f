"""All that the engine remembers, in one place; the modules beside this one work on it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from queueing.core.decisions import Wait
from queueing.core.facts import WorkloadFact
from queueing.core.fair_sharing.shares import weighted_share
from queueing.core.names import Key, QueueName, Uid
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.core.recall import Recall
from queueing.core.settings import Compatibility, Settings
from queueing.core.usage import Demand, Shape, demand_of
from queueing.state.claims import Claims
from queueing.state.credits.credits import Credits
from queueing.state.feuds import Feuds
from queueing.state.ledger import Ledger
from queueing.state.lines import Line
from queueing.state.objects import Objects
from queueing.state.peers import Item, Peers
from queueing.state.pending import PendingQueue
from queueing.state.story import Stories
from queueing.state.tidings import Tidings
from queueing.state.turns import Turns
from queueing.state.views import Active

SHAPES_MAX = 65_536
"""Shapes whose demands are shared; the memo starts over when it is full."""


@dataclass(frozen=True, slots=True)
class Held:
    """A workload that is in no queue, and why. `counted` ones show as pending nevertheless."""

    wait: Wait
    local_queue: Key | None
    counted: bool


@dataclass(slots=True)
class Touched:
    """Names of queues whose view may differ since somebody last asked."""

    queues: set[QueueName] = field(default_factory=set)
    doors: set[Key] = field(default_factory=set)
    charged: set[QueueName] = field(default_factory=set)
    """Queues whose usage changed: their cohorts' views did, too."""


@dataclass(slots=True)
class Memory:
    """The engine's memory. `clock` is the latest `now`, seconds since the epoch."""

    settings: Settings
    tree: QuotaTree
    objects: Objects
    ledger: Ledger
    claims: Claims = field(default_factory=Claims)
    credits: Credits = field(default_factory=Credits)
    stories: Stories = field(default_factory=Stories)
    workloads: dict[Key, WorkloadFact] = field(default_factory=dict)
    demands: dict[Shape, Demand] = field(default_factory=dict)
    """Demands by shape, so that equal ones are one object."""
    behind: dict[Key, dict[Key, None]] = field(default_factory=dict)
    """Workloads by the LocalQueue that they name."""
    uids: dict[Uid, Key] = field(default_factory=dict)
    queues: dict[QueueName, PendingQueue] = field(default_factory=dict)
    items: dict[Key, Item] = field(default_factory=dict)
    held: dict[Key, Held] = field(default_factory=dict)
    counted: dict[Key, int] = field(default_factory=dict)
    """Held workloads that count as pending, by LocalQueue."""
    timers: list[tuple[float, Key]] = field(default_factory=list)
    protected: list[tuple[float, Key]] = field(default_factory=list)
    """When those who hold quota will have run for their minimum runtime."""
    announcements: dict[Key, None] = field(default_factory=dict)
    """Workloads whose reason for not being in a queue was not told yet."""
    assumed_from: dict[Key, WorkloadFact] = field(default_factory=dict)
    """What was known of a workload when its admission was assumed."""
    unknown: set[Key] = field(default_factory=set)
    """Assumed admissions of which only a fact can tell whether they were written."""
    refusals: dict[Key, int] = field(default_factory=dict)
    """How often in a row the API server refused a decision on a workload."""
    delays: dict[Key, float] = field(default_factory=dict)
    """Workloads to hold back, from the next cycle on, for so many seconds."""
    punished: dict[Key, float] = field(default_factory=dict)
    """Until when workloads are held back because their decisions were refused."""
    named: dict[Uid, dict[Key, None]] = field(default_factory=dict)
    """Evicted workloads that still hold quota, by the preemptor that their status names."""
    named_by: dict[Key, Uid] = field(default_factory=dict)
    unready: set[Key] = field(default_factory=set)
    """Admitted workloads whose pods are not ready."""
    ready: set[QueueName] = field(default_factory=set)
    """Queues that may have a head to judge; only ever iterated sorted."""
    fickle: dict[QueueName, None] = field(default_factory=dict)
    """Queues in which somebody may wait whom an admission may help."""
    kept_off: dict[QueueName, None] = field(default_factory=dict)
    """Queues in which somebody may wait in whose way others got."""
    stepped_down: dict[tuple[Key, bool], None] = field(default_factory=dict)
    """Who, since the last news from the cluster, stood and no longer does (True), or gave way."""
    searching: dict[Key, None] = field(default_factory=dict)
    """Who, since then, was judged along and had its own turn for the flavors that were left."""
    feuds: dict[Node, Feuds] = field(default_factory=dict)
    """Who preempted whom, by the root of their tree, since its last change from outside."""
    standing: dict[Key, None] = field(default_factory=dict)
    """Workloads that wait and keep lesser ones off what they wait for."""
    withheld: dict[QueueName, Tidings] = field(default_factory=dict)
    """What the hopeless heads of a round did that a budget cut, until that round is decided."""
    overtaken: dict[Key, None] = field(default_factory=dict)
    """Those of them who by their last judgement keep nobody off, because others come first."""
    unsettled: dict[Node, None] = field(default_factory=dict)
    """Trees in which somebody was admitted since those who stand there were judged."""
    recalls: dict[Node, Recall] = field(default_factory=dict)
    """What this cycle found in trees in which somebody stands, since their last decision."""
    roots: dict[QueueName, Node] = field(default_factory=dict)
    members: dict[Node, list[QueueName]] = field(default_factory=dict)
    generations: dict[Node, int] = field(default_factory=dict)
    open_doors: set[tuple[QueueName, Key | None]] = field(default_factory=set)
    """LocalQueues whose namespace was found to match the ClusterQueue, since objects changed."""
    lines: dict[QueueName, Line] = field(default_factory=dict)
    """Of active queues in which all who wait stood on one shelf, since objects changed."""
    active: dict[QueueName, Active] = field(default_factory=dict)
    """Whether each ClusterQueue was active when last looked at, and why not."""
    reshaped: bool = False
    """The quota tree may have changed since `roots` was worked out."""
    refitted: dict[QueueName, None] = field(default_factory=dict)
    """Queues whose flavors, checks or activity changed."""
    relabelled: dict[str, None] = field(default_factory=dict)
    drained: dict[Key, None] = field(default_factory=dict)
    """Preemptors some of whose victims hold nothing any more."""
    pods_turned_ready: bool = False
    releases: dict[QueueName, int] = field(default_factory=dict)
    """How often a workload of each queue gave quota back: then all flavors are worth a new try."""
    touched: Touched = field(default_factory=Touched)
    clock: float = float("-inf")
    cycles: int = 0
    cursor: str = ""
    """Name of the root at which a cycle that ran out of budget goes on."""

    @classmethod
    def empty(cls, settings: Settings) -> "Memory":
        """Know nothing yet."""
        tree = QuotaTree()
        shared = settings.admission_fair_sharing
        ledger = Ledger(tree, None if shared is None else Turns(shared))
        made = cls(settings=settings, tree=tree, objects=Objects(tree), ledger=ledger)
        made.credits.doors.sharers = made.objects.sharers
        return made

    @property
    def as_kueue(self) -> bool:
        return self.settings.compatibility is Compatibility.KUEUE

    def queue(self, name: QueueName) -> PendingQueue:
        """Return the pending workloads of a ClusterQueue, known or not."""
        found = self.queues.get(name)
        if found is None:
            found = self.queues[name] = PendingQueue(name)
            self.divide(found)
        return found

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

    def touch(self, queue: QueueName | None, door: Key | None) -> None:
        """Note that views of a queue and of a LocalQueue may differ."""
        if queue is not None:
            self.touched.queues.add(queue)
        if door is not None:
            self.touched.doors.add(door)

    def share(self, node: Node) -> int:
        """Return the weighted share of a node, as status shows it; 0 without fair sharing."""
        return 0 if self.settings.fair_sharing is None else weighted_share(node)

    def wake(self, item: Item) -> None:
        """Let an item that waits be judged again."""
        if item.peers is not None:
            self.wake_peers(item.peers)

    def step_down(self, key: Key) -> None:
        """Keep nobody off any more; that may help those who were kept off (Kueue wakes nobody).

        It wakes them once between two facts: else two who each keep the other off, by turns, would
        never let a cycle end.
        """
        self.claims.drop(key)
        self.overtaken.pop(key, None)
        item = self.items.get(key)
        stood = self.standing.pop(key, key) is None and (key, True) not in self.stepped_down
        if stood and not self.as_kueue and item is not None and item.peers is not None:
            self.stepped_down[key, True] = None
            self.ledger.tidings.release(item.peers.queue, item.wants)

    def overtake(self, first: Item) -> None:
        """Let those be judged again whom a strict head kept off that is not the first any more."""
        for key in self.standing:
            other, peers = self.items[key], self.items[key].peers
            if peers is None or first.peers is None or other is first:
                continue
            if first.peers.queue == peers.queue:
                self.ledger.tidings.release(peers.queue, other.wants)

    def make_peace(self, queue: QueueName) -> None:
        """Note that a tree changed from outside: who was preempted may be again."""
        root = self.roots.get(queue)
        if root is not None:
            self.feuds.pop(root, None)

    def victim_changed(self, victim: Key, *, spared: bool = False) -> None:
        """Note that a victim gave its quota back, or is spared: then its preemptor needs others."""
        for claim in self.claims.drained(victim):
            self.drained[claim.owner] = None
            item = self.items.get(claim.owner) if spared else None
            if item is not None:
                self.wake(item)

    def victim_reranked(self, victim: Key) -> None:
        """Let preemptors be judged again of whose victims one has another priority."""
        for owner in self.claims.owners_of(victim):
            item = self.items.get(owner)
            if item is not None:
                self.wake(item)

    def wake_peers(self, peers: Peers, *, doubtful: bool = False) -> None:
        """Let peers that wait be judged again."""
        if self.queues[peers.queue].wake(peers, doubtful=doubtful):
            self.ready.add(peers.queue)
            self.touch(peers.queue, peers.local_queue)
