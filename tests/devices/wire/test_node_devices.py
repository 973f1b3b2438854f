"""Free devices of nodes follow slices, claims and pods, one pool at a time."""

from dataclasses import dataclass, field
from random import Random

import msgspec
import pytest

from queueing.core.facts import Gone, NodeDevicesFact
from queueing.core.names import FlavorName, Key, ResourceName
from queueing.devices.rules.index import DeviceName, Slice, index_of
from queueing.devices.wire import objects as wire
from queueing.devices.wire.catalog import DeviceCatalog, catalog_of
from queueing.devices.wire.names import BY_SCHEDULER, FLAVOR
from queueing.devices.wire.node_devices import DevicesOnNodes
from queueing.devices.wire.slices import slice_of
from queueing.translate.labels import TOPOLOGY_REQUIRED
from queueing.translate.wire.meta import Meta

DRIVER, GPU = "gpu.example.com", ResourceName("nvidia.com/gpu")
LARGE, ANY = FlavorName("large"), FlavorName("any")
PLACING = {LARGE, ANY}
SELECTOR = f"device.attributes['{DRIVER}'].large"
EVERYWHERE = ""


def catalog() -> DeviceCatalog:
    def flavor(name: str, *selectors: str) -> dict[str, object]:
        cel = [{"cel": {"expression": one}} for one in selectors]
        request = {"deviceClassName": "gpu", "selectors": cel}
        resources = [{"name": GPU, "request": request}]
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
    flavor: str = "",
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
        "labels": {FLAVOR: flavor} if flavor else {},
        "annotations": {BY_SCHEDULER: "true"} if by_scheduler else {},
        "ownerReferences": [{"kind": "Pod", "name": pod, "uid": pod, "apiVersion": "v1"}]
        if pod
        else [],
    }
    status = {"allocation": {"devices": {"results": results}}} if held else {}
    return msgspec.convert({"metadata": metadata, "spec": {}, "status": status}, wire.ResourceClaim)


@dataclass
class World:
    """Devices of nodes, and beside them all that they were told."""

    random: Random
    made: DevicesOnNodes = field(default_factory=DevicesOnNodes)
    slices: dict[str, Slice] = field(default_factory=dict)
    claims: dict[Key, wire.ResourceClaim] = field(default_factory=dict)
    placed: set[str] = field(default_factory=set)
    rules: DeviceCatalog = field(default_factory=catalog)
    flavors: set[FlavorName] = field(default_factory=lambda: {*PLACING})
    told: dict[str, NodeDevicesFact] = field(default_factory=dict)

    def change(self) -> None:
        random = self.random
        name = f"s{random.randrange(5)}"
        match random.choice(["slice", "slice", "claim", "claim", "claim", "drop", "pod", "rules"]):
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
            case _:
                self.flavors = {one for one in PLACING if random.random() < 0.8}
                self.made.set_rules(self.rules, self.flavors)

    def _claim(self) -> None:
        random = self.random
        found = claim(
            f"c{random.randrange(4)}",
            [
                DeviceName(DRIVER, f"p{random.randrange(4)}", f"s{random.randrange(5)}-{at}")
                for at in range(random.randrange(3))
            ],
            flavor=random.choice(["", "", LARGE, "plain"]),
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
        fresh = DevicesOnNodes()
        for one in self.claims.values():
            fresh.put_claim(one)
        fresh.set_rules(self.rules, self.flavors)
        for pod in self.placed:
            fresh.put_pod(Meta(name=pod, uid=pod, annotations={TOPOLOGY_REQUIRED: "rack"}))
        for name in sorted(self.slices, reverse=True):
            fresh.put_slice(self.slices[name])
        return fresh

    def scanned(self) -> dict[str, dict[FlavorName, dict[ResourceName, int]]]:
        """Count by looking at everything."""
        held: set[DeviceName] = set()
        for one in self.claims.values():
            pods = [owner.uid for owner in one.metadata.owner_references]
            ours = BY_SCHEDULER in one.metadata.annotations and not self.placed.isdisjoint(pods)
            if one.status.allocation is None or ours:
                continue
            if one.metadata.labels.get(FLAVOR) not in self.flavors:
                results = one.status.allocation.devices.results
                held |= {DeviceName(it.driver, it.pool, it.device) for it in results}
        counts: dict[str, dict[FlavorName, dict[ResourceName, int]]] = {}
        for device in index_of(self.slices.values()).devices:
            for flavor in sorted(self.flavors):
                if flavor == ANY or device.attributes[f"{DRIVER}/large"]:
                    mine = counts.setdefault(device.node, {}).setdefault(flavor, {GPU: 0})
                    mine[GPU] += device.name not in held or not device.node
        return counts


@pytest.mark.parametrize("seed", range(60))
def test_what_is_kept_along_equals_what_is_counted_anew(seed: int) -> None:
    world = World(Random(seed))
    world.made.set_rules(world.rules, world.flavors)
    for _ in range(40):
        world.change()
        world.listen()
        scanned = world.scanned()
        beside = scanned.pop(EVERYWHERE, {})
        assert {name: one.free for name, one in world.told.items()} == scanned
        fresh = world.rebuilt()
        anew = {one.name: one for one in fresh.changes() if isinstance(one, NodeDevicesFact)}
        assert anew == world.told
        for flavor in PLACING:
            wanted = beside.get(flavor, {GPU: 0} if flavor in world.flavors else {})
            assert world.made.beside(flavor) == fresh.beside(flavor) == wanted


def test_a_change_tells_of_no_other_node() -> None:
    made = DevicesOnNodes()
    made.set_rules(catalog(), PLACING)
    for at in range(50):
        made.put_slice(published(f"s{at}", node=f"n{at}", pool=f"p{at}", large=4, small=0))
    assert len(list(made.changes())) == 50
    made.put_slice(published("s7", node="n7", pool="p7", large=3, small=0))
    (told,) = made.changes()
    assert told == NodeDevicesFact(name="n7", free={ANY: {GPU: 3}, LARGE: {GPU: 3}})
    assert made.put_claim(claim("other", [DeviceName(DRIVER, "p9", "s9-0")]))
    (told,) = made.changes()
    assert told == NodeDevicesFact(name="n9", free={ANY: {GPU: 3}, LARGE: {GPU: 3}})
    made.drop_slice("s7")
    assert [one.name for one in made.changes()] == ["n7"]


def test_a_claim_that_counts_anyway_tells_nothing() -> None:
    made = DevicesOnNodes()
    made.set_rules(catalog(), PLACING)
    made.put_slice(published("s", node="n", pool="p", large=4, small=0))
    list(made.changes())
    assert not made.put_claim(claim("ours", [DeviceName(DRIVER, "p", "s-0")], flavor=ANY))
    waiting = claim("pods", [DeviceName(DRIVER, "p", "s-1")], pod="u", by_scheduler=True)
    assert made.put_claim(waiting)  # nobody knows yet whose pod it is
    assert [one.name for one in made.changes()] == ["n"]
    assert made.put_pod(Meta(name="u", uid="u", annotations={TOPOLOGY_REQUIRED: "rack"}))
    (told,) = made.changes()
    assert told == NodeDevicesFact(name="n", free={ANY: {GPU: 4}, LARGE: {GPU: 4}})
