"""All that the engine remembers, in one place; the modules beside this one work on it."""

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heappop, heappush

from queueing.core.decisions import Admit, Place, Requeue, Strand, Wait
from queueing.core.entries import Head
from queueing.core.facts import WorkloadFact
from queueing.core.holders import Holder
from queueing.core.names import CohortName, FlavorResource, Key, QueueName, Uid
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.settings import Settings
from queueing.core.topology.forest import Forest
from queueing.core.topology.usage import places_of
from queueing.state.credits.credits import Credits, EngineView
from queueing.state.memory.objects import Objects
from queueing.state.memory.pairs import Pairs
from queueing.state.memory.places import Places
from queueing.state.queues.peers import ASIDE, BLOCKING, Item, Peers, Stand
from queueing.state.queues.pending import PendingQueue
from queueing.state.usage.ledger import Ledger
from queueing.state.usage.turns import Turns


@dataclass(frozen=True, slots=True)
class Held:
    """A workload that must not be tried yet and so is in no queue, with the reason."""

    wait: Wait
    local_queue: Key | None
    until: float | None = None
    """When it may be tried again without a new fact; None if only a fact can change that."""

    @property
    def counts_in(self) -> Key | None:
        """The LocalQueue in which it is pending and inadmissible all the same, as in backoff."""
        return self.local_queue if self.wait.requeue is Requeue.INADMISSIBLE else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Names, sorted, of objects whose view may have changed since the last such answer."""

    cluster_queues: tuple[QueueName, ...] = ()
    local_queues: tuple[Key, ...] = ()
    cohorts: tuple[CohortName, ...] = ()


@dataclass(slots=True)
class Touched:
    """Names of queues whose view (status, metrics) may have changed since it was last read."""

    queues: set[QueueName] = field(default_factory=set)
    local_queues: set[Key] = field(default_factory=set)
    charged: set[QueueName] = field(default_factory=set)
    """ClusterQueues whose usage changed: the views of their cohorts changed with it."""

    def take(self, tree: QuotaTree) -> Changed:
        """Return what was touched since the last call."""
        charged = (tree.queue(name) for name in self.charged if tree.has_queue(name))
        cohorts = {CohortName(above.name) for queue in charged for above in queue.ancestors()}
        told = Changed(
            cluster_queues=tuple(sorted(self.queues)),
            local_queues=tuple(sorted(self.local_queues)),
            cohorts=tuple(sorted(cohorts)),
        )
        self.queues.clear()
        self.local_queues.clear()
        self.charged.clear()
        return told


@dataclass(slots=True)
class Writes:
    """Decisions on their way to the API server."""

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


@dataclass(slots=True)
class Aside:
    """Workloads that must not be tried yet, and so are in no queue."""

    held: dict[Key, Held] = field(default_factory=dict)
    counted: Counter[Key | None] = field(default_factory=Counter)
    """LocalQueue → how many held workloads of it count as pending."""
    untold: dict[Key, None] = field(default_factory=dict)
    """Workloads, also of inactive queues, of which the next cycle is to tell why they wait."""

    def put(self, key: Key, held: Held) -> None:
        """Hold a workload back that is not held back yet."""
        self.held[key] = held
        self.counted[held.counts_in] += 1

    def take(self, key: Key) -> Held | None:
        """Hold a workload back no more; return why it was, None if it was not."""
        self.untold.pop(key, None)
        held = self.held.pop(key, None)
        if held is not None:
            self.counted[held.counts_in] -= 1
        return held


@dataclass(slots=True)
class Timers:
    """When workloads that are held back may be tried again, and minimum runtimes end."""

    _heap: list[tuple[float, Key]] = field(default_factory=list)

    def set(self, at: float, key: Key) -> None:
        heappush(self._heap, (at, key))

    def take(self, now: float) -> list[Key]:
        """Return the workloads whose time has come, and forget these times."""
        due = []
        while self._heap and self._heap[0][0] <= now:
            due.append(heappop(self._heap)[1])
        return due

    def next(self, matters: Callable[[Key], bool]) -> float | None:
        """Return the first time of a workload that still matters; None if there is none."""
        while self._heap and not matters(self._heap[0][1]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None


@dataclass(slots=True)
class Edits:
    """What changed of queues, cohorts, flavors and namespaces since workloads were last woken."""

    reshaped: bool = False
    """Whether the quota tree may have changed."""
    bent: bool = False
    """Whether balances may have changed weighted shares, and nobody from outside any."""
    refitted: dict[QueueName, None] = field(default_factory=dict)
    """Queues whose flavors, checks or activity changed."""
    relabelled: dict[str, None] = field(default_factory=dict)
    """Namespaces whose labels changed."""
    roomier: bool = False
    """Whether there may be more room on nodes."""
    pods_turned_ready: bool = False
    """Whether the pods of a workload became ready."""


@dataclass(slots=True)
class Trees:
    """What is known of quota trees, and which of them has the next turn."""

    generation: int = 0
    """The latest generation of any tree when workloads were last woken for such changes."""
    limits: dict[QuotaNode, int] = field(default_factory=dict)
    """Queues and cohorts that limit how many victims are leaving at a time, with that limit."""
    cursor: tuple[str, bool] = ("", False)
    """The place of the root of the tree that had the last round: see `queues_in_turn`."""
    swept: str = ""
    """The queue after which the next sweep begins."""


class Workloads(dict[Key, WorkloadFact]):
    """Every known workload, whatever its state, by key; and keys by uid and LocalQueue."""

    __slots__ = ("behind", "uids", "variants")

    def __init__(self) -> None:
        super().__init__()
        self.uids: dict[Uid, Key] = {}
        self.behind: dict[Key | None, dict[Key, None]] = {}
        """LocalQueue → the workloads that name it."""
        self.variants: dict[Uid, dict[Key, None]] = {}
        """Parent → its variants."""

    def put(self, fact: WorkloadFact) -> None:
        old, kept_under = self.get(fact.key), (fact.uid, fact.local_queue, fact.variant)
        if old is None or (old.uid, old.local_queue, old.variant) != kept_under:
            if old is not None:
                self.drop(fact.key)
            self.uids[fact.uid] = fact.key
            self.behind.setdefault(fact.local_queue, {})[fact.key] = None
            if fact.variant is not None:
                self.variants.setdefault(fact.variant.parent, {})[fact.key] = None
        self[fact.key] = fact

    def drop(self, key: Key) -> WorkloadFact | None:
        """Forget a workload; return its last fact, None if there was none."""
        old = self.pop(key, None)
        if old is not None:
            self.uids.pop(old.uid, None)
            behind = self.behind[old.local_queue]
            del behind[key]
            if not behind:
                del self.behind[old.local_queue]
            if old.variant is not None:
                siblings = self.variants[old.variant.parent]
                del siblings[key]
                if not siblings:
                    del self.variants[old.variant.parent]
        return old


@dataclass(slots=True)
class Memory:
    """The engine's memory. Times are seconds since the epoch."""

    settings: Settings
    objects: Objects
    ledger: Ledger
    credits: Credits = field(init=False)
    workloads: Workloads = field(default_factory=Workloads)

    # Workloads that wait.
    queues: dict[QueueName, PendingQueue] = field(default_factory=dict)
    items: dict[Key, Item] = field(default_factory=dict)
    ready: set[QueueName] = field(default_factory=set)
    """Queues that may have a head to judge; only ever iterated sorted."""
    aside: Aside = field(default_factory=Aside)
    writes: Writes = field(default_factory=Writes)

    # Preemption that takes more than one cycle.
    pairs: dict[QueueName, Pairs] = field(default_factory=dict)
    """ClusterQueue → the pairs of its preemptors since one of its workloads ended last."""
    marks: dict[Key, Uid] = field(default_factory=dict)
    """Evicted workload → the preemptor that its `Preempted` condition names."""
    places: Places = field(default_factory=Places)
    unready: set[Key] = field(default_factory=set)
    """Admitted workloads whose pods are not ready; in Kueue mode all that hold quota."""

    clock: float = float("-inf")
    """The time of the current cycle: the latest `now`."""
    cycles: int = 0
    timers: Timers = field(default_factory=Timers)

    # What changed, and what follows from the objects.
    trees: Trees = field(default_factory=Trees)
    edits: Edits = field(default_factory=Edits)
    touched: Touched = field(default_factory=Touched)

    @classmethod
    def empty(cls, settings: Settings) -> "Memory":
        """Return the memory of a new engine, to which no fact is known."""
        tree = QuotaTree(
            Forest(
                overlap=settings.overlapping_flavors, further=settings.placement.heeds_annotations
            )
        )
        shared = settings.admission_fair_sharing
        turns = None if shared is None else Turns(shared)
        ledger = Ledger(tree, turns, promises=settings.rules.promises)
        made = cls(settings=settings, objects=Objects(tree), ledger=ledger)
        made.credits = Credits(
            EngineView(
                tree=tree,
                workloads=made.workloads,
                charges=ledger.charges,
                sharers=made.objects.sharers,
                queue_of=made.objects.queue_behind,
                protect=made.timers.set,
            )
        )
        ledger.on_price, ledger.ranks = made.note_charge, made.credits.ranks
        ledger.restraints = made.credits.restraints
        return made

    @property
    def tree(self) -> QuotaTree:
        return self.objects.tree

    def queue(self, name: QueueName) -> PendingQueue:
        """Return the pending workloads of a ClusterQueue, which need not exist (yet)."""
        found = self.queues.get(name)
        if found is None:
            found = self.queues[name] = PendingQueue(name)
            self.divide(found)
        return found

    def root_of(self, queue: QueueName) -> QuotaNode | None:
        """Return the root of a queue's tree; None if there is no such queue."""
        tree = self.objects.tree
        return tree.queue(queue).root if tree.has_queue(queue) else None

    def queues_of(self, root: QuotaNode) -> list[QueueName]:
        """Return the queues of a tree, by name."""
        return [QueueName(one.name) for one in self.objects.tree.queues_of(root)]

    def holder_for(
        self, head: Head, usage: Mapping[FlavorResource, int], *, promised: bool = False
    ) -> Holder:
        """Return the holder of what a head is given now, or is promised."""
        fact = head.workload
        return Holder(
            key=fact.key,
            uid=fact.uid,
            queue=head.queue,
            local_queue=fact.local_queue,
            priority=fact.priority,
            timestamp=head.timestamp,
            reserved_at=self.clock,
            evicted=False,
            usage=usage,
            promised=promised,
        )

    def stands_by(self, decision: Admit | Place | Strand) -> bool:
        """Say whether an admission or second pass is what was decided of its workload last."""
        if isinstance(decision, Admit):
            charge = self.ledger.charges.get(decision.workload)
            return charge is not None and charge.decision == decision
        pending = self.places.passes.get(decision.workload)
        return pending is not None and pending.decision == decision

    def preemptor_of(self, victim: Key) -> Key:
        """Return for whom a workload was told to leave; an empty key if that is nobody known."""
        uid = self.ledger.evicting.get(victim) or self.marks.get(victim, Uid(""))
        return self.workloads.uids.get(uid, Key(""))

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

    def note_charge(self, holder: Holder) -> None:
        """Note that a workload is charged differently: views, and what budgets hold, changed."""
        self.touched.charged.add(holder.queue)
        self.touch(holder.queue, holder.local_queue)
        if self.credits.any:
            self.credits.stir(holder.key)

    def wake(self, peers: Peers) -> None:
        """Make peers READY, so that they are judged again.

        A promise of theirs is taken back: the next judgement makes it anew, or gives more.
        """
        if peers.stand is ASIDE or peers.stand is BLOCKING:
            for item in peers.items():
                self.ledger.break_promise(item.fact.key, releases=False)
        if self.queues[peers.queue].wake(peers):
            self.ready.add(peers.queue)
            self.touch(peers.queue, peers.local_queue)

    def set_aside(self, peers: Peers, stand: Stand) -> None:
        """Set the state of peers that were judged, or must not be."""
        self.queues[peers.queue].set_aside(peers, stand)
        self.touch(peers.queue, peers.local_queue)

    def doubt_promises(self, root: QuotaNode | None) -> None:
        """Let all that was promised in a tree be judged anew if it does not fit together any more.

        So it is where quota was taken away, or a victim keeps its own after all.
        """
        holders = self.ledger.promised.values()
        here = [one for one in holders if self.root_of(one.queue) is root]
        cells = (self.tree.queue(one.queue).cell(name) for one in here for name in one.usage)
        if any(cell.available() < 0 for cell in cells):
            for one in here:
                self.wake(self.items[one.key].peers)
        self.doubt_places()

    def doubt_places(self, leaves: AbstractSet[str] | None = None) -> None:
        """Let promises be judged anew whose places are gone, or used by others after all.

        `leaves` are the keys of those of which more may be used, None for any.
        """
        forest = self.tree.forest
        self.places.unsettled.update(self.ledger.moving)
        for one in tuple(self.ledger.promised.values()):
            places = places_of(one.usage)
            if leaves is not None and all(leaves.isdisjoint(where.usage) for where in places):
                continue
            if any(map(forest.is_overdrawn, places)):
                self.wake(self.items[one.key].peers)

    def forget_pairs(self, uid: Uid) -> None:
        for pairs in self.pairs.values():
            pairs.forget(uid)
