"""One simulation from its beginning to its end: facts, settings and arrivals in, a report out."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from queueing.core.credits.facts import CreditFact
from queueing.core.facts import Fact
from queueing.core.settings import Settings
from queueing.recording.lines import LAST
from queueing.sim.simulation.arrivals import Arrival, KnownLives
from queueing.sim.simulation.durations import Length, fixed
from queueing.sim.simulation.report import Run, run_report
from queueing.sim.simulation.runner import Simulation
from queueing.sim.simulation.tally import Tally

Progress = Callable[[int, int, float], None]
"""Is told how many workloads have ended, of how many, and the seconds simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What is simulated. Two runs of one study give the same report."""

    name: str
    facts: tuple[Fact | CreditFact, ...]
    settings: Settings
    begins: float
    """Epoch seconds."""
    arrivals: Sequence[Arrival] = ()
    until_s: float | None = None
    seed: int = 1
    runs: Length = field(default_factory=lambda: fixed(3600.0))
    """How long workloads run of which nobody says."""
    leaving: Length = field(default_factory=lambda: fixed(30.0))


def simulate(study: Study, progress: Progress | None = None) -> Run:
    """Run a study to its end: nothing happens any more, or its time is over."""
    arrivals = study.arrivals
    lives = KnownLives(
        random.Random(study.seed),  # noqa: S311 - no secret
        others=study.runs,
        leaving=study.leaving,
        known={one.fact.key: one.runs_s for one in arrivals},
    )
    tally = Tally(
        study.begins,
        lambda fact: simulation.cluster.queue_of(fact),  # noqa: PLW0108 - it is made below
        classes={one.fact.key: one.name for one in arrivals},
    )
    simulation = Simulation.empty(study.settings, study.begins, lives=lives, watcher=tally)
    simulation.begin(study.facts)
    for one in arrivals:
        simulation.submit(one.at, one.fact)
    until = LAST if study.until_s is None else min(study.begins + study.until_s, LAST)
    steps = 0
    while simulation.step(until):
        steps += 1
        if progress is not None and not steps % 64:
            ended = len(tally.pasts) - simulation.present
            progress(ended, len(tally.pasts) + simulation.ahead, simulation.time.now - study.begins)
    over = study.until_s is None or simulation.time.next_at is None
    ends = simulation.last_event if over else until
    return run_report(study.name, tally, simulation.cluster, max(ends, study.begins))
