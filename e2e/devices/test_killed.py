"""The controller killed at each step of a start and of an eviction with devices: the same end."""

from collections.abc import Iterator
from functools import partial

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.devices.hardware import H100, Rack
from e2e.devices.shapes import allocated, claims_of, furnish, templates_of, training, wait_no_claims
from e2e.gate import Gate
from e2e.jobs import running, stopped, workload_of
from e2e.killing import finishes_through_a_kill, replica
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

DEVICES = 4
START = (2, 3, 4)
"""After Workload and status: before the trial of the template, before it, before the Job."""
UNDO = (1, 2, 3, 4)
"""After Evicted: before the suspension, the restored template, the release, the sweep."""


def test_a_controller_killed_at_any_step_leaves_no_orphan_and_no_double_charge(
    space: World, installed: Cluster, gate: Gate, gpus_of: Rack
) -> None:
    with replica(gate, installed):
        furnish(space, gpus_of, {"h100": (H100, DEVICES)})
    counted = f"/namespaces/{space.namespace}/(jobs|workloads|resourceclaim)"
    for number, (start, undo) in enumerate(steps()):
        name = f"train-{number}"
        made = training(space, name, DEVICES)
        begun = partial(is_running, space, name)
        through = partial(finishes_through_a_kill, space, gate)
        assert through(partial(space.make, made), begun, after=start, counted=counted) is (
            start is not None
        )
        (claim,) = claims_of(space, name)
        assert len(allocated(claim)) == DEVICES
        workload = workload_of(space, name)
        charged = workload["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]
        assert charged["nvidia.com/gpu"] == str(DEVICES)
        out = partial(deactivate, space, workload)
        assert through(out, partial(is_out, space, name, made), after=undo, counted=counted)
        space.api.delete("Job", name, space.namespace)
    with replica(gate, installed):
        wait_no_claims(space)
        wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def steps() -> Iterator[tuple[int | None, int]]:
    """Pair the writes before which the controller dies at the start and at the end."""
    for number, undo in enumerate(UNDO):
        yield START[number] if number < len(START) else None, undo


def deactivate(space: World, workload: Object) -> None:
    name = workload["metadata"]["name"]
    space.api.patch("Workload", name, {"spec": {"active": False}}, namespace=space.namespace)


def is_running(space: World, name: str) -> bool:
    found = space.api.get("Job", name, space.namespace)
    ready = holds(workload_of(space, name), "PodsReady")
    return running(found) and ready and len(templates_of(space, name)) == 1


def is_out(space: World, name: str, made: Object) -> bool:
    """Tell whether a Job is as it was made, its quota is free, and no template is left of it."""
    found = space.api.get("Job", name, space.namespace)
    now, then = found["spec"]["template"], made["spec"]["template"]
    same = now["metadata"].get("annotations", {}) == then["metadata"]["annotations"]
    gates = now["spec"].get("schedulingGates")
    free = not holds(workload_of(space, name), "QuotaReserved")
    return stopped(found) and same and not gates and free and not templates_of(space, name)
