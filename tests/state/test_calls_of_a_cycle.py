"""How much code a cycle runs for one workload that simply fits."""

import sys
from pathlib import Path
from types import FrameType

import pytest

import queueing
from queueing.core.decisions import Admit
from queueing.core.settings import Compatibility, FairSharing, Settings
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, quota, workload
from queueing.testing.worlds import world

COMPREHENSIONS = frozenset(("<listcomp>", "<dictcomp>", "<setcomp>"))
"""From Python 3.12 on these are no calls."""
HOME = str(Path(queueing.__file__).parent)
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare",))


def calls_of_a_cycle(settings: Settings) -> list[tuple[str, str]]:
    """Return file and function of each call of ours in the cycle that admits a workload.

    Its queue has admitted one of the same shape before, and nothing else happened.
    """
    engine = Engine(settings)
    for fact in world(cluster_queue("queue", {"default": {"cpu": quota(10_000)}})):
        engine.observe(fact)
    engine.observe(workload("first", {"cpu": 1_000}, local_queue="team/queue"))
    for now in (1.0, 2.0):
        engine.cycle(now)
    engine.observe(workload("second", {"cpu": 1_000}, local_queue="team/queue"))
    calls: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_ours = code.co_filename.startswith(HOME) and code.co_name not in COMPREHENSIONS
        if event == "call" and is_ours:
            calls.append((code.co_filename.removeprefix(HOME), code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        cycle = engine.cycle(3.0)
    finally:
        sys.setprofile(before)
    assert [type(one) for one in cycle.decisions] == [Admit]
    return calls


@pytest.mark.parametrize(
    ("settings", "calls_max", "modules_max"),
    [
        pytest.param(Settings(), 69, 14, id="classical"),
        pytest.param(Settings(fair_sharing=FAIR), 69, 14, id="fair sharing"),
        pytest.param(Settings(compatibility=Compatibility.KUEUE), 74, 14, id="as Kueue"),
    ],
)
def test_a_workload_that_simply_fits_takes_few_calls_in_few_modules(
    settings: Settings, calls_max: int, modules_max: int
) -> None:
    calls = calls_of_a_cycle(settings)
    shown = "\n".join(f"{module} {name}" for module, name in calls)
    modules = {module for module, _ in calls}
    assert len(calls) <= calls_max, f"{len(calls)} calls:\n{shown}"
    assert len(modules) <= modules_max, f"{len(modules)} modules: {sorted(modules)}"
