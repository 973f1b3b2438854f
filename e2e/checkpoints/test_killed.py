"""The controller killed in each state of a request to save, on real parts: the same end."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from e2e.api import holds
from e2e.checkpoints.holds import EVICTED_STAYS, NOBODY_IS_STOPPED, QUOTA_STAYS, Hold, held
from e2e.checkpoints.promises import Promises, charged
from e2e.checkpoints.training import LED, QUICK, answer, lead, make, preempt, wait_phase
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.product import Controller
from e2e.serving import until
from e2e.wire import Object
from e2e.world import World

Launch = Callable[..., Controller]


def selected(space: World) -> None:
    wait_phase(space, "Selected")


def notified(space: World) -> None:
    lead(space)
    wait_phase(space, "Notified")


def saving(space: World) -> None:
    notified(space)
    answer(space, "Accepted")
    wait_phase(space, "Saving")


def refused(space: World) -> None:
    notified(space)
    answer(space, "Refused", retryAfterSeconds=60)
    wait_phase(space, "Refused")


def saved(space: World) -> None:
    """The pods have said so, and what follows from it cannot be stored."""
    saving(space)
    answer(space, "Saved")


def suspending(space: World) -> None:
    notified(space)
    answer(space, "Saved")
    wait_phase(space, "Suspending")


def drained(space: World) -> None:
    notified(space)
    answer(space, "Saved")
    wait_phase(space, "Drained")


def failed(space: World) -> None:
    saving(space)
    answer(space, "Failed", message="no space left on device")


def unresponsive(space: World) -> None:
    """The time to accept is over, and what follows from it cannot be stored."""
    notified(space)
    (request,) = space.api.items("Checkpoint", space.namespace)
    over = datetime.fromisoformat(request["spec"]["ackBy"]).timestamp()
    until(lambda: time.time() > over, what="the time to accept is over")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How a request gets into a state, and what is left to do in it."""

    reach: Callable[[World], None]
    hold: Hold | None = None
    answered: bool = False
    terms: Mapping[str, Any] = field(default_factory=lambda: LED)
    outcome: str = "Saved"


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(State(reach=selected), id="Selected"),
        pytest.param(State(reach=notified), id="Notified"),
        pytest.param(State(reach=saving), id="Saving"),
        pytest.param(State(reach=refused), id="Refused"),
        pytest.param(State(reach=saved, hold=NOBODY_IS_STOPPED, answered=True), id="Saved"),
        pytest.param(
            State(reach=failed, hold=NOBODY_IS_STOPPED, answered=True, outcome="Failed"),
            id="Failed",
        ),
        pytest.param(
            State(
                reach=unresponsive,
                hold=NOBODY_IS_STOPPED,
                answered=True,
                terms=LED | {"ackDeadline": "15s"},
                outcome="Unresponsive",
            ),
            id="Unresponsive",
        ),
        pytest.param(State(reach=suspending, answered=True), id="Suspending"),
        pytest.param(State(reach=drained, hold=QUOTA_STAYS, answered=True), id="Drained"),
    ],
)
def test_a_controller_killed_in_a_state_of_a_save_leaves_it_to_the_next(
    space: World, controllers: Launch, state: State
) -> None:
    first = controllers("first", QUICK)
    make(space, **state.terms)
    with Promises(space, space.name("cq"), "2") as promises:
        with held(space, state.hold):
            preempt(space)
            state.reach(space)
            first.kill()
        if state.reach is selected:
            lead(space)
        assert "urgent" not in charged(space)
        controllers("second", QUICK)
        if not state.answered:
            assert not space.api.get("Job", "train", space.namespace)["spec"]["suspend"]
            answer(space, "Saved")
        wait_job(space, "urgent", running, "running")
        found = wait_phase(space, "Requeued")
        assert found["status"]["outcome"] == state.outcome
        steps = {"Saved": 40}
        assert found["status"].get("checkpoint", {}).get("step") == steps.get(state.outcome)
        wait_workload(space, "train", lambda one: not holds(one, "QuotaReserved"), "drained")
        assert charged(space) == ["urgent"]
        space.api.delete("Job", "urgent", namespace=space.namespace)
        again = wait_job(space, "train", running, "running again")
        if state.outcome == "Saved":
            goes_on(again)
        promises.check("train")


def goes_on(job: Object) -> None:
    """See that a run finds what the one before it saved."""
    notes = job["spec"]["template"]["metadata"]["annotations"]
    assert notes["queueing.dev/checkpoint-uri"] == "s3://bucket/step-40"


def test_a_controller_killed_when_the_quota_is_released_brings_the_work_back(
    space: World, controllers: Launch
) -> None:
    """Suspended by hand, nobody is waiting for the room: it is free until somebody resumes."""
    first = controllers("first", QUICK)
    make(space)
    name = workload_of(space, "train")["metadata"]["name"]
    with Promises(space, space.name("cq"), "2") as promises:
        space.api.patch("Workload", name, {"spec": {"active": False}}, namespace=space.namespace)
        notified(space)
        answer(space, "Saved")
        wait_phase(space, "Released")
        first.kill()
        assert charged(space) == []
        space.api.patch("Workload", name, {"spec": {"active": True}}, namespace=space.namespace)
        controllers("second", QUICK)
        goes_on(wait_job(space, "train", running, "running again"))
        assert wait_phase(space, "Requeued")["status"]["outcome"] == "Saved"
        assert charged(space) == ["train"]
        promises.check("train")


def test_a_controller_killed_when_a_request_is_cancelled_lets_the_work_run_on(
    space: World, controllers: Launch
) -> None:
    first = controllers("first", QUICK)
    make(space)
    with Promises(space, space.name("cq"), "2") as promises:
        with held(space, EVICTED_STAYS):
            preempt(space)
            saving(space)
            space.api.delete("Job", "urgent", namespace=space.namespace)
            wait_phase(space, "Cancelled")
            first.kill()
        controllers("second", QUICK)
        wait_workload(
            space, "train", lambda one: not holds(one, "Evicted"), "not to be stopped any more"
        )
        assert running(space.api.get("Job", "train", space.namespace))
        assert charged(space) == ["train"]
        promises.check("train")
