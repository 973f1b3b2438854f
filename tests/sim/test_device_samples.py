"""The samples of devices: each one plans, and its Job is admitted to its devices."""

from pathlib import Path

import pytest

from queueing.core.decisions import Admit
from queueing.core.settings import Compatibility
from queueing.sim.documents import load
from queueing.sim.intake import read_world
from queueing.sim.plan import until_stable

SAMPLES = Path(__file__).parents[2] / "config" / "samples" / "dra"


@pytest.mark.parametrize("name", sorted(one.stem for one in SAMPLES.glob("*.yaml")))
def test_the_job_of_a_sample_gets_its_devices(name: str) -> None:
    documents = load([str(SAMPLES / f"{name}.yaml")])
    world = read_world(documents, now=0.0, compatibility=Compatibility.QUEUEING)
    assert world.warnings == ()
    plan = until_stable(world.facts, settings=world.settings, now=0.0)
    decisions = [one for decided in plan.rounds for one in decided]
    assert len(decisions) == 1
    assert isinstance(decisions[0], Admit)
    (pod_set,) = decisions[0].pod_sets
    assert set(pod_set.flavors.values()) == {name}
    assert all(amount > 0 for amount in pod_set.usage.values())


def test_there_are_samples_of_every_driver() -> None:
    text = "".join(one.read_text() for one in SAMPLES.glob("*.yaml"))
    drivers = ("nvidia.com", "amd.com", "intel.com", "google.com", "example.com")
    assert all(f"driver: gpu.{one}" in text or f"driver: tpu.{one}" in text for one in drivers)
