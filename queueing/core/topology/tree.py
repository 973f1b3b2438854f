"""What is free in each leaf of one flavor's topology; changed in place.

A change of a node, of other pods or of usage touches one leaf, and is told by a log to those who
keep numbers about it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from queueing.core.names import ResourceName
from queueing.core.selectors import Taint, Toleration
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.domains import Domains

Amounts = Mapping[ResourceName, int]
Usage = Mapping[str, Amounts]
"""Amounts by the key of the leaf: the hostname, or the values of all levels joined by commas."""
Columns = dict[ResourceName, list[int]]
"""Amounts by resource and leaf."""
NONE: Amounts = MappingProxyType({})
NO_LABELS: Mapping[str, str] = MappingProxyType({})
LOG_MAX = 1 << 17
DEAD_MAX = 1024
"""So many more domains without a node are kept than there are domains with one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the cluster. `capacity` is what it offers in all, among it a number of `pods`."""

    name: str
    labels: Mapping[str, str]
    capacity: Amounts
    taints: tuple[Taint, ...] = ()
    schedulable: bool = True
    """Whether it is ready and not cordoned."""


Sums = dict[str, dict[ResourceName, int]]
"""Amounts by resource, by whatever they are of; what is zero is left out."""


def add_at(sums: Sums, key: str, amounts: Amounts, sign: int = 1) -> None:
    """Add amounts to those of one key, or with sign -1 take them away."""
    mine = sums.setdefault(key, {})
    for resource, amount in amounts.items():
        mine[resource] = mine.get(resource, 0) + sign * amount
        if not mine[resource]:
            del mine[resource]
    if not mine:
        del sums[key]


class Log:
    """Ids in the order in which they changed; a reader that is too late must read everything."""

    __slots__ = ("_entries", "_forgotten")

    def __init__(self) -> None:
        self._entries: list[int] = []
        self._forgotten = 0

    @property
    def end(self) -> int:
        """The place from which the next reader has to go on."""
        return self._forgotten + len(self._entries)

    def add(self, one: int) -> None:
        self._entries.append(one)
        if len(self._entries) > LOG_MAX:
            del self._entries[: LOG_MAX // 2]
            self._forgotten += LOG_MAX // 2

    def since(self, place: int) -> list[int] | None:
        """Return what changed since a place, each once; None if that is forgotten."""
        if place < self._forgotten:
            return None
        return list(dict.fromkeys(self._entries[place - self._forgotten :]))


class Journal:
    """The undo log of the usage of several trees: a context manager that may be nested."""

    __slots__ = ("_entries", "_marks")

    def __init__(self) -> None:
        self._entries: list[Callable[[], None]] = []
        self._marks: list[int] = []

    def __enter__(self) -> None:
        self._marks.append(len(self._entries))

    def __exit__(self, *_: object) -> None:
        mark = self._marks.pop()
        while len(self._entries) > mark:
            self._entries.pop()()

    @property
    def is_open(self) -> bool:
        """Whether what is done now will be undone."""
        return bool(self._marks)

    def note(self, undo: Callable[[], None]) -> None:
        """Remember how to undo what was just done, if it will be undone."""
        if self._marks:
            self._entries.append(undo)


class Tree:
    """The domains of a flavor's nodes by the levels of its topology, and what is free in each leaf.

    The lowest level is the leaves. Where it is the hostname, a leaf is a node, or the nodes that
    share a hostname; else a leaf is all nodes of a domain, and their capacities count as one.
    """

    def __init__(
        self,
        topology: str,
        levels: tuple[str, ...],
        *,
        node_labels: Mapping[str, str] = NO_LABELS,
        tolerations: tuple[Toleration, ...] = (),
        journal: Journal | None = None,
    ) -> None:
        self.topology, self.levels = topology, levels
        self.node_labels, self.tolerations = node_labels, tolerations
        self.spreads = False
        """Whether pods are dealt to domains in turn, not packed into few; set by who puts it."""
        self.devices: Amounts = NONE
        """Resources that are devices: what a node offers of them beside devices of its own. Set
        by who puts it, before any node is."""
        self.hosts = levels[-1] == HOSTNAME
        """Whether leaves are single nodes."""
        self.journal = journal or Journal()
        self._nodes: dict[str, Node] = {}
        self._others: dict[str, Amounts] = {}
        self._devices: dict[str, Amounts] = {}
        self._used: dict[str, dict[ResourceName, int]] = {}
        self.epoch = 0
        """Ids of domains mean nothing in another epoch."""
        self._begin()

    def _begin(self) -> None:
        self.domains = Domains(len(self.levels))
        self._members: dict[str, dict[str, Node]] = {}
        self.room: Columns = {}
        """What would be free without the workloads placed there."""
        self.free: Columns = {}
        self.changes, self.node_changes = Log(), Log()
        """Leaves of which anything changed; leaves of which nodes changed."""

    # Nodes, and pods that no topology placed.

    def put_node(self, node: Node) -> str:
        """Add or change a node; return why it is set aside, empty if it is not.

        Nodes must not change inside an attempt.
        """
        problem = self.problem(node)
        before = self._nodes.get(node.name)
        if before is not None and (problem or self.key_of(before) != self.key_of(node)):
            self.drop_node(node.name)
        if not problem:
            self._nodes[node.name] = node
            key = self.key_of(node)
            self._members.setdefault(key, {})[node.name] = node
            self._seat(key)
        return problem

    def drop_node(self, name: str) -> None:
        """Remove a node. What others and workloads use there counts again if it comes back."""
        node = self._nodes.pop(name, None)
        if node is None:
            return
        key = self.key_of(node)
        del self._members[key][name]
        self._seat(key)
        if self.domains.dead > sum(map(len, self.domains.live)) + DEAD_MAX:
            self._compact()

    def set_others(self, name: str, usage: Amounts) -> None:
        """Say what pods that no topology placed use of a node in all, among it `pods`."""
        self._replace(self._others, name, usage, sign=-1)

    def set_devices(self, name: str, amounts: Amounts) -> None:
        """Say which devices of a node's own are free, as others leave them; of all else nothing."""
        counted = {one: amount for one, amount in amounts.items() if one in self.devices}
        self._replace(self._devices, name, counted, sign=1)

    def _replace(self, known: dict[str, Amounts], name: str, now: Amounts, *, sign: int) -> None:
        """Put other amounts in the place of those known of a node, of which its leaf has more."""
        before = known.pop(name, NONE)
        if now:
            known[name] = now
        node = self._nodes.get(name)
        if node is not None:
            more = {one: sign * (now.get(one, 0) - before.get(one, 0)) for one in {**before, **now}}
            self._add(self.domains.leaf_of[self.key_of(node)], more, (self.room, self.free))

    def _offered(self, node: Node) -> Amounts:
        """Return what a node offers in all. Devices do not come by what it says is allocatable."""
        own = self._devices.get(node.name, NONE)
        devices = {one: beside + own.get(one, 0) for one, beside in self.devices.items()}
        return {**node.capacity, **devices} if devices else node.capacity

    def key_of(self, node: Node) -> str:
        """Return the key of the leaf that a node belongs to."""
        if self.hosts:
            return node.labels[HOSTNAME]
        return ",".join(node.labels[level] for level in self.levels)

    def node_of(self, leaf: int) -> Node:
        """Return the node whose place, labels and taints count for a leaf that is single nodes.

        It is the first by name of those that share the hostname.
        """
        members = self._members[self.key_at(leaf)]
        return members[min(members)]

    def key_at(self, leaf: int) -> str:
        """Return the key of a leaf."""
        path = self.domains.path[leaf]
        return path[-1] if self.hosts else ",".join(path)

    def nodes_in(self, leaf: int) -> int:
        """Count the nodes of a leaf."""
        return len(self._members[self.key_at(leaf)])

    def problem(self, node: Node) -> str:
        """Return why a node has no domain here; empty if it has one."""
        if not node.schedulable:
            return "not ready, or cordoned"
        for key, value in self.node_labels.items():
            if node.labels.get(key) != value:
                return f"without the label {key}={value} of the flavor"
        missing = next((level for level in self.levels if level not in node.labels), "")
        return f"without the label {missing} of the topology" if missing else ""

    def _seat(self, key: str) -> None:
        """Put a leaf where its first node is, with what all its nodes offer."""
        members, domains = self._members[key], self.domains
        seat, now = domains.leaf_of.get(key), None
        if members:
            labels = members[min(members)].labels
            now = domains.number(tuple(labels[level] for level in self.levels))
        if seat is not None and seat != now:
            self._set(seat, NONE, NONE)
            domains.detach(key)
        if now is None:
            del self._members[key]
            return
        domains.attach(key, now)
        room: dict[ResourceName, int] = {}
        for name, node in members.items():
            for resource, amount in self._offered(node).items():
                room[resource] = room.get(resource, 0) + amount
            for resource, amount in self._others.get(name, NONE).items():
                room[resource] = room.get(resource, 0) - amount
        self._set(now, room, self._used.get(key, NONE))

    def _compact(self) -> None:
        """Forget the domains that have no nodes, and give the others new ids."""
        assert not self.journal.is_open, "a node was removed inside an attempt"  # noqa: S101
        nodes, self._nodes = self._nodes, {}
        self.epoch += 1
        self._begin()
        for node in nodes.values():
            self.put_node(node)

    # Usage.

    def charge(self, usage: Usage, sign: int = 1) -> None:
        """Count what a workload uses, or with sign -1 no longer; also where no node is now."""
        self._charge(usage, sign)
        self.journal.note(partial(self._charge, usage, -sign))

    def assume(self, usage: Usage) -> None:
        """Count what pods of the workload in question will use, also where all others are ignored.

        Only inside an attempt: it must be undone before nodes change.
        """
        both = (self.room, self.free)
        self._take(usage, 1, both)
        self.journal.note(partial(self._take, usage, -1, both))

    def _charge(self, usage: Usage, sign: int) -> None:
        for key, amounts in usage.items():
            add_at(self._used, key, amounts, sign)
        self._take(usage, sign, (self.free,))

    def has_room(self, usage: Usage, held: Usage | None = None) -> bool:
        """Say whether all leaves exist and have this free; pods that request nothing never fit.

        As in Kueue, this is the question for a decision that was made before others in one cycle.
        With `held`, that counts as used by workloads, and not what was charged.
        """
        return all(
            amounts
            and key in self.domains.leaf_of
            and all(
                not amount or self._left(key, one, held) >= amount
                for one, amount in amounts.items()
            )
            for key, amounts in usage.items()
        )

    def is_overdrawn(self, usage: Usage) -> bool:
        """Say whether any of the leaves is gone, or has less than is used of it."""
        return any(
            key not in self.domains.leaf_of
            or any(amount and self._left(key, one, None) < 0 for one, amount in amounts.items())
            for key, amounts in usage.items()
        )

    def _left(self, key: str, resource: ResourceName, held: Usage | None) -> int:
        column = (self.free if held is None else self.room).get(resource)
        if column is None:
            return -1
        left = column[self.domains.leaf_of[key]]
        return left if held is None else left - held.get(key, NONE).get(resource, 0)

    def _take(self, usage: Usage, sign: int, of: tuple[Columns, ...]) -> None:
        for key, amounts in usage.items():
            leaf = self.domains.leaf_of.get(key)
            if leaf is not None:
                self._add(leaf, {one: -sign * amount for one, amount in amounts.items()}, of)

    def _add(self, leaf: int, amounts: Amounts, to: tuple[Columns, ...]) -> None:
        if not amounts.keys() <= self.room.keys():
            self._stretch(amounts)
        for columns in to:
            for resource, amount in amounts.items():
                columns[resource][leaf] += amount
        self.changes.add(leaf)

    def _set(self, leaf: int, room: Amounts, used: Amounts) -> None:
        self._stretch({**room, **used})
        for resource, column in self.room.items():
            column[leaf] = amount = room.get(resource, 0)
            self.free[resource][leaf] = amount - used.get(resource, 0)
        self.changes.add(leaf)
        self.node_changes.add(leaf)

    def _stretch(self, resources: Amounts) -> None:
        """Give each resource a column, and each column a place for each domain."""
        size = len(self.domains)
        for columns in (self.room, self.free):
            for resource in resources:
                columns.setdefault(resource, [])
            for column in columns.values():
                if len(column) < size:
                    column += [0] * (size - len(column))
