"""Laws of charges and offers, against an allocator that tries everything there is.

It knows nothing of ours: it goes over every choice of devices that the scheduler might make for
one pod after another. So it is slow, and its fleets are small.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.devices.fleet import (
    DRIVER,
    PCIE,
    device_class,
    device_flavor,
    gpu,
    node,
    pod_template,
    resource_slice,
)
from tests.devices.wire.test_charges import asked, limited

Wire = dict[str, Any]
RESOURCE = "nvidia.com/part"
GI = 2**30
NODES = ("n0", "n1")


class Chip(NamedTuple):
    """One device as the slices say it."""

    node: str
    name: str
    model: str
    memory: int
    root: str
    counted: int
    """GiB that it takes of the counter of its node; 0 where it takes none."""


class Case(NamedTuple):
    """A fleet, and what pods ask of it."""

    chips: list[Chip]
    sizes: dict[str, int]
    """GiB of the counter of each node."""
    model: str
    each: int
    together: bool
    """Whether the devices of a pod must share a root."""
    charge: str


@st.composite
def cases(draw: st.DrawFn) -> Case:
    chips = [
        Chip(
            node=name,
            name=f"gpu-{at}",
            model=draw(st.sampled_from("AB")),
            memory=draw(st.sampled_from((10, 20, 40))),
            root=draw(st.sampled_from("xy")),
            counted=draw(st.sampled_from((0, 10, 20))),
        )
        for name in NODES
        for at in range(draw(st.integers(0, 4)))
    ]
    sizes = {name: draw(st.sampled_from((20, 40))) for name in NODES}
    charge = draw(st.sampled_from(("Devices", "Counter", "Capacity")))
    model = draw(st.sampled_from("AB"))
    return Case(chips, sizes, model, draw(st.integers(1, 3)), draw(st.booleans()), charge)


def documents(case: Case) -> list[Wire]:
    """Spell a fleet as drivers publish it, and the rule by which it is shared out."""
    made: list[Wire] = []
    for name in NODES:
        counters = resource_slice(name, [], count=2, part="counters")
        del counters["spec"]["devices"]
        total = {"memory": {"value": f"{case.sizes[name]}Gi"}}
        counters["spec"]["sharedCounters"] = [{"name": "all", "counters": total}]
        devices = [_device(chip) for chip in case.chips if chip.node == name]
        made += [node(name, gpu="h100"), counters, resource_slice(name, devices, count=2)]
    chosen = f"device.attributes['{DRIVER}'].architecture == '{case.model}'"
    charge: Wire = {"type": case.charge, "quotaResource": "quota"}
    if case.charge != "Devices":
        charge["name"] = "memory"
    resource = {
        "name": RESOURCE,
        "charge": charge,
        "request": {"deviceClassName": DRIVER, "selectors": [{"cel": {"expression": chosen}}]},
        "traits": {"oneRoot": {"matchAttribute": PCIE}},
    }
    return [*made, device_class(), device_flavor("h100", "h100", resource)]


def _device(chip: Chip) -> Wire:
    made = gpu(0, model=chip.model, memory=f"{chip.memory}Gi") | {"name": chip.name}
    made["attributes"][PCIE] = {"string": chip.root}
    if chip.counted:
        taken = {"memory": {"value": f"{chip.counted}Gi"}}
        made["consumesCounters"] = [{"counterSet": "all", "counters": taken}]
    return made


def choices(case: Case, left: list[Chip]) -> Iterator[tuple[Chip, ...]]:
    """Yield every set of free devices that one pod could be given."""
    for name in NODES:
        there = [chip for chip in left if chip.node == name and chip.model == case.model]
        used = sum(chip.counted for chip in case.chips if chip.node == name and chip not in left)
        for some in combinations(there, case.each):
            fits = used + sum(chip.counted for chip in some) <= case.sizes[name]
            if fits and (not case.together or len({chip.root for chip in some}) == 1):
                yield some


def most_pods(case: Case, left: list[Chip]) -> int:
    """Return how many pods could have devices at once, were they chosen in the best way."""
    return max(
        (
            1 + most_pods(case, [chip for chip in left if chip not in some])
            for some in choices(case, left)
        ),
        default=0,
    )


def counts_as(case: Case, some: tuple[Chip, ...]) -> int:
    """Return what is held with some devices."""
    match case.charge:
        case "Counter":
            return sum(chip.counted for chip in some) * GI
        case "Capacity":
            return sum(chip.memory for chip in some) * GI
        case _:
            return len(some)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(cases())
def test_no_pod_is_charged_less_than_what_it_could_be_given(case: Case) -> None:
    template = pod_template(limited(RESOURCE, case.each))
    if case.together:
        traits = f'{{"{RESOURCE}": {{"oneRoot": true}}}}'
        template["metadata"]["annotations"] = {"queueing.dev/traits": traits}
    asks, offer = asked(documents(case), template)
    assert asks.problems == ""
    possible = list(choices(case, case.chips))
    assert bool(offer.problem) == (not possible), offer.problem
    for some in possible:
        assert offer.amount >= counts_as(case, some)
    if possible and offer.pods_max is not None:
        assert 1 <= offer.pods_max <= most_pods(case, case.chips)
