"""Random forests of one flavor, requests and events, and what `plain` says of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from queueing.core.names import PodSetName, ResourceName
from queueing.core.selectors import Requirement, Taint, Toleration
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import place
from queueing.core.topology.requests import (
    Layer,
    Placeable,
    PodSetRequest,
    Profile,
    Term,
    TopologyRequest,
    in_order,
)
from queueing.core.topology.searching import SearchTerms
from queueing.core.topology.tree import Node
from tests.core.topology.builders import CPU, FLAVOR, GPU, PODS, told, used
from tests.core.topology.plain import Plain, Refused

TOPOLOGIES = [
    ("block", "rack", HOSTNAME),
    ("block", "rack", HOSTNAME),
    ("block", HOSTNAME),
    (HOSTNAME,),
    ("block", "rack"),
    ("zone", "block", "rack", HOSTNAME),
]
PROFILES = [
    Profile(),
    Profile(mixed=False),
    Profile(balanced=True),
    Profile(respects_preferences=True),
    Profile(mixed=False, balanced=True, respects_preferences=True),
]
NAMES = {CPU: "cpu", PODS: "pods", GPU: "gpu"}
Usage = Mapping[str, Mapping[ResourceName, int]]


@dataclass
class World:
    """A forest, and beside it all that it was told."""

    random: Random
    levels: tuple[str, ...]
    beside: int | None = None
    """GPUs that each node offers beside devices of its own; None where none are devices."""
    forest: Forest = field(default_factory=Forest)
    nodes: dict[str, Node] = field(default_factory=dict)
    others: dict[str, Mapping[ResourceName, int]] = field(default_factory=dict)
    devices: dict[str, int] = field(default_factory=dict)
    charged: list[Usage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.forest.serve(FLAVOR, {} if self.beside is None else {GPU: self.beside})
        self.forest.put_flavor(FLAVOR, "T", self.levels)

    def charge(self, usage: Usage, sign: int = 1) -> None:
        self.forest.charge(used(usage, hosts=self.levels[-1] == HOSTNAME), sign)

    def put_node(self, name: str) -> None:
        random = self.random
        values = [f"{level[0]}{random.randrange(3)}" for level in self.levels]
        if self.levels[-1] == HOSTNAME:
            values[-1] = name
        labels = dict(zip(self.levels, values, strict=True))
        if random.random() < 0.7:
            labels["disk"] = random.choice(["ssd", "hdd"])
        capacity = {CPU: random.choice([0, 500, 1000, 2000, 3000, 4000, 7000]), PODS: 100}
        if random.random() < 0.1:
            capacity[PODS] = random.randrange(3)
        if random.random() < 0.7:
            capacity[GPU] = random.randrange(9)
        taint = Taint(key="gpu", value=random.choice(["", "a"]), effect="NoSchedule")
        soft = Taint(key="gpu", effect="PreferNoSchedule")
        taints = random.choice([(), (), (), (), (taint,), (soft,)])
        node = Node(name=name, labels=labels, capacity=capacity, taints=taints)
        self.nodes[name] = node
        self.forest.put_node(node)

    def change(self) -> None:
        """Let something happen in the cluster."""
        random = self.random
        kinds = ["put", "drop", "others", "charge", "charge", "release"]
        kind = random.choice([*kinds, *([] if self.beside is None else ["devices", "devices"])])
        name = f"n{random.randrange(14)}"
        if kind == "put":
            self.put_node(name)
        elif kind == "drop":
            self.nodes.pop(name, None)
            self.forest.drop_node(name)
        elif kind == "others":
            usage = random.choice([{}, {CPU: random.randrange(2500), PODS: random.randrange(4)}])
            self.others[name] = usage
            self.forest.set_others(name, usage)
        elif kind == "devices":
            self.set_devices(name, random.choice([0, 0, random.randrange(9)]))
        elif kind == "charge" and self.nodes:
            keys = sorted(map(self.forest.tree(FLAVOR).key_of, self.nodes.values()))
            keys = [*keys, "gone"]
            usage_ = {
                random.choice(keys): {CPU: random.choice([500, 1000, 3000]), PODS: 1, GPU: 1}
                for _ in range(random.randrange(1, 4))
            }
            self.charged.append(usage_)
            self.charge(usage_)
        elif kind == "release" and self.charged:
            self.charge(self.charged.pop(random.randrange(len(self.charged))), -1)

    def set_devices(self, name: str, free: int) -> None:
        self.devices[name] = free
        self.forest.set_devices(name, {FLAVOR: {GPU: free}} if free else {})

    def as_counted(self, node: Node) -> Node:
        """Return a node with what it offers of devices, whatever it says is allocatable."""
        if self.beside is None:
            return node
        gpus = self.beside + self.devices.get(node.name, 0)
        return replace(node, capacity={**node.capacity, GPU: gpus})

    def plain(self, terms: SearchTerms) -> Plain:
        used: dict[str, dict[str, int]] = {}
        for usage in self.charged:
            for key, amounts in usage.items():
                mine = used.setdefault(key, {})
                for resource, amount in amounts.items():
                    mine[resource] = mine.get(resource, 0) + amount
        others = {name: dict(amounts) for name, amounts in self.others.items()}
        plain_others: dict[str, dict[str, int]] = {
            name: {str(one): amount for one, amount in amounts.items()}
            for name, amounts in others.items()
        }
        return Plain(
            self.levels, [*map(self.as_counted, self.nodes.values())], plain_others, used, terms
        )


def world(seed: int) -> World:
    random = Random(seed)
    beside = random.choice([None, None, 0, 0, 2])
    made = World(random, random.choice(TOPOLOGIES), beside)
    for at in range(random.randrange(1, 14 if seed % 4 else 40)):
        if beside is not None:
            made.set_devices(f"n{at}", random.randrange(9))
        made.put_node(f"n{at}")
    return made


def _pod(random: Random) -> Placeable:
    requests = {CPU: random.choice([500, 1000, 1000, 1500])}
    if random.random() < 0.3:
        requests[GPU] = random.randrange(3)
    if random.random() < 0.05:
        requests = {}
    ssd = Requirement(key="disk", operator="In", values=("ssd",))
    has = Requirement(key="disk", operator="Exists")
    some = random.random() < 0.5
    return Placeable(
        requests=in_order(requests),
        tolerations=(Toleration(key="gpu", operator="Exists"),) if random.random() < 0.4 else (),
        node_selector=(("disk", "hdd"),) if random.random() < 0.1 else (),
        affinity=(Term(labels=(has,)),) if random.random() < 0.1 else None,
        preferences=((3, Term(labels=(ssd,))), (1, Term(labels=(has,)))) if some else (),
    )


def _asked(random: Random, levels: Sequence[str], group: str) -> tuple[TopologyRequest, bool]:
    level = random.choice(levels)
    mode = random.choice(["required", "preferred", "unconstrained", "implied", "slices"])
    if group and mode not in ("required", "preferred"):
        mode = "required"
    layers: list[Layer] = []
    if mode == "slices" or (mode != "implied" and random.random() < (0.2 if group else 0.5)):
        at = random.randrange(len(levels))
        size = random.choice([1, 2, 3, 4, 6])
        layers.append(Layer(levels[at], size))
        while at + 1 < len(levels) and random.random() < 0.6:
            at = random.randrange(at + 1, len(levels))
            size = random.choice([one for one in (1, 2, 3, 4, 6) if not size % one])
            layers.append(Layer(levels[at], size))
    request = TopologyRequest(
        required=level if mode == "required" else None,
        preferred=level if mode == "preferred" else None,
        unconstrained=True if mode == "unconstrained" else None,
        slices=tuple(layers[:3]),
        group=group,
    )
    return request, mode == "implied"


def requests(made: World) -> list[PodSetRequest]:
    """Return one to three pod sets, perhaps a leader and its workers."""
    random, found = made.random, []
    group = "g" if random.random() < 0.4 else ""
    shared = _asked(random, made.levels, group)
    for at in range(2 if group else random.choice([1, 1, 1, 2, 3])):
        request, implied = shared if group else _asked(random, made.levels, "")
        count = 1 if group and not at else random.choice([1, 2, 3, 4, 5, 6, 8, 12, 20])
        name = PodSetName(f"p{at}")
        pod = _pod(random)
        found.append(
            PodSetRequest(name=name, count=count, pod=pod, topology=request, implied=implied)
        )
    if group and random.random() < 0.3:
        found.reverse()
    return found


def answer(made: World, pod_sets: Sequence[PodSetRequest], terms: SearchTerms) -> dict[str, str]:
    found = place(made.forest, {FLAVOR: pod_sets}, terms)
    return {name: told(one) for name, one in found.items()}


def plain_answer(
    made: World, pod_sets: Sequence[PodSetRequest], terms: SearchTerms
) -> dict[str, str]:
    """Return what the text of the reference says of pod sets in turn."""
    plain, found = made.plain(terms), dict[str, str]()
    groups: list[list[PodSetRequest]] = []
    for one in pod_sets:
        if one.topology.group and groups and groups[-1][0].topology.group:
            groups[-1].append(one)
        else:
            groups.append([one])
    for group in groups:
        workers, leader = group[0], group[1] if len(group) > 1 else None
        if leader is not None and leader.count > workers.count:
            workers, leader = leader, workers
        try:
            to_workers, to_leader = plain.search(workers, leader)
        except Refused as refused:
            found |= {one.name: str(refused) for one in group}
            break
        both = [(workers, to_workers), *([(leader, to_leader)] if leader else [])]
        for one, shares in both:
            found[one.name] = " ".join(f"{key}*{count}" for key, count in shares)
            for key, count in shares:
                assumed = plain.assumed.setdefault(key, {})
                for resource, amount in (*one.pod.requests, (PODS, 1)):
                    assumed[resource] = assumed.get(resource, 0) + amount * count
    return found
