"""Free devices of nodes follow slices, claims and pods, one pool at a time."""

from dataclasses import dataclass, field, replace
from random import Random

import msgspec
import pytest

from queueing.core.facts import Gone, NodeDevicesFact
from queueing.core.names import FlavorName, Key, ResourceName
from queueing.devices.rules.index import DeviceName, Slice, index_of
from queueing.devices.wire import objects as wire
from queueing.devices.wire.catalog import DeviceCatalog, catalog_of
from queueing.devices.wire.names import BY_SCHEDULER, INJECT_RESOURCE, POD_SET, WORKLOAD_UID
from queueing.devices.wire.node_devices import DevicesOnNodes
from queueing.devices.wire.slices import slice_of
from queueing.translate.labels import TOPOLOGY_REQUIRED
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

DRIVER, GPU = "gpu.example.com", ResourceName("nvidia.com/gpu")
NATIVE = ResourceName("example.com/native")
"""Served by the scheduler, from the same devices."""
LARGE, ANY = FlavorName("large"), FlavorName("any")
SERVED = {LARGE: (GPU,), ANY: (GPU, NATIVE)}
SELECTOR = f"device.attributes['{DRIVER}'].large"
EVERYWHERE = ""


def catalog() -> DeviceCatalog:
    def flavor(name: FlavorName, *selectors: str) -> dict[str, object]:
        cel = [{"cel": {"expression": one}} for one in selectors]
        request = {"deviceClassName": "gpu", "selectors": cel}
        strategies = {GPU: "Inject", NATIVE: "Native"}
        resources = [
            {"name": one, "request": request, "strategy": strategies[one]} for one in SERVED[name]
        ]
        return {
            "metadata": {"name": name},
            "spec": {"resourceFlavor": name, "resources": resources},
        }

    both = [flavor(LARGE, SELECTOR), flavor(ANY)]
    expression = f"device.driver == '{DRIVER}'"
    gpus = {
        "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    return catalog_of(
        msgspec.convert(both, list[wire.DeviceFlavor]), [msgspec.convert(gpus, wire.DeviceClass)]
    )


def published(
    name: str, *, node: str, pool: str, large: int, small: int, generation: int = 1
) -> Slice:
    sizes = [True] * large + [False] * small
    devices = [
        {"name": f"{name}-{at}", "attributes": {"large": {"bool": size}}}
        for at, size in enumerate(sizes)
    ]
    where = {"nodeName": node} if node else {"allNodes": True}
    spec = {
        "driver": DRIVER,
        "pool": {"name": pool, "generation": generation, "resourceSliceCount": 1},
        "devices": devices,
        **where,
    }
    return slice_of(msgspec.convert({"metadata": {"name": name}, "spec": spec}, wire.ResourceSlice))


def claim(
    name: str,
    held: list[DeviceName],
    *,
    workload: str = "",
    resource: str = "",
    pod: str = "",
    by_scheduler: bool = False,
) -> wire.ResourceClaim:
    results = [
        {"driver": one.driver, "pool": one.pool, "device": one.device, "request": "one"}
        for one in held
    ]
    metadata = {
        "name": name,
        "namespace": "team",
        "labels": {WORKLOAD_UID: workload, POD_SET: "main"} if workload else {},
        "annotations": {BY_SCHEDULER: "true"} if by_scheduler else {INJECT_RESOURCE: resource},
        "ownerReferences": [{"kind": "Pod", "name": pod, "uid": pod, "apiVersion": "v1"}]
        if pod
        else [],
    }
    status = {"allocation": {"devices": {"results": results}}} if held else {}
    spec = {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "gpu"}}]}}
    made = {"metadata": metadata, "spec": spec, "status": status}
    return msgspec.convert(made, wire.ResourceClaim)


def admitted(uid: str, *, placed: bool) -> Workload:
    place = {"topologyAssignment": {"levels": ["rack"], "slices": []}} if placed else {}
    assignments = [{"name": "main", **place}]
    status = {"admission": {"clusterQueue": "a", "podSetAssignments": assignments}}
    return msgspec.convert({"metadata": {"name": uid, "uid": uid}, "status": status}, Workload)


@dataclass
class World:
    """Devices of nodes, and beside them all that they were told."""

    random: Random
    workloads: dict[str, Workload] = field(default_factory=dict)
    made: DevicesOnNodes = field(init=False)
    slices: dict[str, Slice] = field(default_factory=dict)
    claims: dict[Key, wire.ResourceClaim] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
    rules: DeviceCatalog = field(default_factory=catalog)
    needed: bool = True
    told: dict[str, NodeDevicesFact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.made = DevicesOnNodes(self.workloads.get)

    def change(self) -> None:
        random = self.random
        name = f"s{random.randrange(5)}"
        kinds = ["slice", "slice", "claim", "claim", "claim", "drop", "pod", "workload", "rules"]
        match random.choice(kinds):
            case "slice":
                found = published(
                    name,
                    node=random.choice(["n0", "n1", "n2", EVERYWHERE]),
                    pool=f"p{random.randrange(4)}",
                    large=random.randrange(3),
                    small=random.randrange(3),
                    generation=random.randrange(1, 3),
                )
                self.slices[name] = found
                self.made.put_slice(found)
            case "drop" if random.random() < 0.5:
                self.slices.pop(name, None)
                self.made.drop_slice(name)
            case "drop":
                key = Key(f"team/c{random.randrange(4)}")
                self.claims.pop(key, None)
                self.made.drop_claim(key)
            case "claim":
                self._claim()
            case "pod":
                pod = f"u{random.randrange(3)}"
                self.placed.add(pod)
                self.made.put_pod(Meta(name=pod, uid=pod, annotations={TOPOLOGY_REQUIRED: "rack"}))
            case "workload":
                uid = f"w{random.randrange(2)}"
                self.workloads[uid] = admitted(uid, placed=random.random() < 0.7)
                if random.random() < 0.2:
                    del self.workloads[uid]
                self.made.judge(uid)
            case _:
                self.needed = random.random() < 0.8
                self.made.set_rules(self.rules, needed=self.needed)

    def _claim(self) -> None:
        random = self.random
        found = claim(
            f"c{random.randrange(4)}",
            [
                DeviceName(DRIVER, f"p{random.randrange(4)}", f"s{random.randrange(5)}-{at}")
                for at in range(random.randrange(3))
            ],
            workload=random.choice(["", "w0", "w1"]),
            resource=random.choice([GPU, NATIVE]),
            pod=random.choice(["", "u0", "u1", "u2"]),
            by_scheduler=random.random() < 0.5,
        )
        self.claims[found.metadata.key] = found
        self.made.put_claim(found)

    def listen(self) -> None:
        for fact in self.made.changes():
            if isinstance(fact, Gone):
                del self.told[fact.name]
            else:
                assert self.told.get(fact.name) != fact
                self.told[fact.name] = fact

    def rebuilt(self) -> DevicesOnNodes:
        fresh = DevicesOnNodes(self.workloads.get)
        for one in self.claims.values():
            fresh.put_claim(one)
        fresh.set_rules(self.rules, needed=self.needed)
        for pod in self.placed:
            fresh.put_pod(Meta(name=pod, uid=pod, annotations={TOPOLOGY_REQUIRED: "rack"}))
        for name in sorted(self.slices, reverse=True):
            fresh.put_slice(self.slices[name])
        return fresh

    def scanned(self) -> dict[str, dict[FlavorName, dict[ResourceName, int]]]:
        """Count by looking at everything."""
        held: dict[ResourceName, set[DeviceName]] = {GPU: set(), NATIVE: set()}
        for one in self.claims.values():
            if one.status.allocation is None:
                continue
            results = one.status.allocation.devices.results
            for resource, devices in held.items():
                if resource != self.counted(one):
                    devices |= {DeviceName(it.driver, it.pool, it.device) for it in results}
        counts: dict[str, dict[FlavorName, dict[ResourceName, int]]] = {}
        for device in index_of(self.slices.values()).devices:
            for flavor in SERVED if self.needed else ():
                if flavor == ANY or device.attributes[f"{DRIVER}/large"]:
                    none = dict.fromkeys(SERVED[flavor], 0)
                    mine = counts.setdefault(device.node, {}).setdefault(flavor, none)
                    for resource in mine:
                        mine[resource] += device.name not in held[resource] or not device.node
        return counts

    def counted(self, one: wire.ResourceClaim) -> str:
        """Return the resource that pods use by a claim which a topology placed."""
        if BY_SCHEDULER in one.metadata.annotations:
            pods = [owner.uid for owner in one.metadata.owner_references]
            return "" if self.placed.isdisjoint(pods) else NATIVE
        of = self.workloads.get(one.metadata.labels.get(WORKLOAD_UID, ""))
        if of is None or of.status.admission is None:
            return ""
        (assigned,) = of.status.admission.pod_set_assignments
        return one.metadata.annotations[INJECT_RESOURCE] if assigned.topology_assignment else ""


@pytest.mark.parametrize("seed", range(60))
def test_what_is_kept_along_equals_what_is_counted_anew(seed: int) -> None:
    world = World(Random(seed))
    world.made.set_rules(world.rules, needed=True)
    for _ in range(40):
        world.change()
        world.listen()
        scanned = world.scanned()
        beside = scanned.pop(EVERYWHERE, {})
        assert {name: one.free for name, one in world.told.items()} == scanned
        fresh = world.rebuilt()
        anew = {one.name: one for one in fresh.changes() if isinstance(one, NodeDevicesFact)}
        assert anew == world.told
        for flavor, resources in SERVED.items():
            wanted = beside.get(flavor, dict.fromkeys(resources, 0) if world.needed else {})
            assert world.made.beside(flavor) == fresh.beside(flavor) == wanted


def test_a_change_tells_of_no_other_node() -> None:
    made = DevicesOnNodes()
    made.set_rules(catalog(), needed=True)
    for at in range(50):
        made.put_slice(published(f"s{at}", node=f"n{at}", pool=f"p{at}", large=4, small=0))
    assert len(list(made.changes())) == 50
    made.put_slice(published("s7", node="n7", pool="p7", large=3, small=0))
    (told,) = made.changes()
    assert told == NodeDevicesFact(name="n7", free={ANY: {GPU: 3, NATIVE: 3}, LARGE: {GPU: 3}})
    assert made.put_claim(claim("other", [DeviceName(DRIVER, "p9", "s9-0")]))
    (told,) = made.changes()
    assert told == NodeDevicesFact(name="n9", free={ANY: {GPU: 3, NATIVE: 3}, LARGE: {GPU: 3}})
    made.drop_slice("s7")
    assert [one.name for one in made.changes()] == ["n7"]


def test_a_claim_is_left_out_where_the_use_of_its_placed_pods_counts() -> None:
    workloads: dict[str, Workload] = {}
    made = DevicesOnNodes(workloads.get)
    made.set_rules(catalog(), needed=True)
    made.put_slice(published("s", node="n", pool="p", large=4, small=0))
    list(made.changes())

    def told(gpu: int, native: int) -> None:
        fact = NodeDevicesFact(name="n", free={ANY: {GPU: gpu, NATIVE: native}, LARGE: {GPU: gpu}})
        assert list(made.changes()) == [fact]

    ours, theirs = DeviceName(DRIVER, "p", "s-0"), DeviceName(DRIVER, "p", "s-1")
    assert made.put_claim(claim("ours", [ours], workload="w", resource=GPU))
    told(3, 3)  # nobody knows yet of its Workload
    workloads["w"] = admitted("w", placed=True)
    assert made.judge("w")
    told(4, 3)
    assert not made.judge("w")
    assert made.put_claim(claim("pods", [theirs], pod="u", by_scheduler=True))
    told(3, 2)  # nobody knows yet whose pod it is
    assert made.put_pod(Meta(name="u", uid="u", annotations={TOPOLOGY_REQUIRED: "rack"}))
    told(3, 3)
    workloads["w"] = admitted("w", placed=False)
    assert made.judge("w")
    told(2, 3)


def test_claims_that_count_for_all_resources_touch_no_node() -> None:
    one = catalog()
    alone = {key: how for key, how in one.served.items() if key[1] == GPU}
    made = DevicesOnNodes({"w": admitted("w", placed=True)}.get)
    made.set_rules(replace(one, served=alone), needed=True)
    made.put_slice(published("s", node="n", pool="p", large=4, small=0))
    list(made.changes())
    ours = claim("ours", [DeviceName(DRIVER, "p", "s-0")], workload="w", resource=GPU)
    assert not made.put_claim(ours)
