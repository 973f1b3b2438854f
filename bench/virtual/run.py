"""One run of a load in a mode, and what came of it."""

import random
from dataclasses import dataclass, field

from bench.virtual.controller import Controller, Effort
from bench.virtual.cores import Cores
from bench.virtual.loads import LOADS, Load, by_workload
from bench.virtual.report import Report, report
from bench.virtual.store import Store
from bench.virtual.tally import Tally
from bench.virtual.teams import Creator, Runner
from bench.virtual.trial import Trial
from queueing.core.facts import WorkloadFact
from queueing.core.settings import Compatibility, Settings
from queueing.sim.virtual_time import VirtualTime
from queueing.state.engine import Engine
from queueing.testing.invariants import check_invariants


@dataclass(slots=True)
class World:
    """Everything of one run, connected."""

    trial: Trial
    load: Load
    time: VirtualTime = field(default_factory=VirtualTime)
    effort: Effort = field(default_factory=Effort)
    store: Store = field(init=False)
    tally: Tally = field(init=False)
    leader: Controller = field(init=False)

    def __post_init__(self) -> None:
        chance = random.Random(self.trial.seed)
        factor = self.load.write_factor * self.trial.write_factor
        self.store = Store(self.time, Cores(self.time), chance, factor)
        self.tally = Tally(self.load, self.time, by_workload(self.load))
        self.store.witness = self.tally.witness
        runner = Runner(self.store, self.tally.streams)
        self.store.watchers = [runner.watch, self._watch]
        for stream in self.load.streams:
            Creator(stream, self.store, chance).start()
        self._lead()
        if self.trial.restart_every_s is not None:
            self.time.after(self.trial.restart_every_s, self._restart)

    def _watch(self, fact: WorkloadFact, version: int) -> None:
        """Tell whoever leads now."""
        self.leader.watch(fact, version)

    def _lead(self) -> None:
        """Begin a term with an engine that knows only what is stored."""
        self.tally.begin_term()
        settings = Settings(compatibility=self.trial.mode, fair_sharing=self.load.fair_sharing)
        engine = Engine(settings)
        with self.effort.measured():
            for fact in self.load.objects():
                engine.observe(fact)
        late = settings.rules.evicts_late
        self.leader = Controller(engine, self.store, self.tally, self.effort, self.trial, late)
        for key, fact in self.store.workloads.items():
            self.leader.watch(fact, self.store.versions[key])

    def _restart(self, _now: float) -> None:
        self.leader.retire(self._lead)
        self.time.after(self.trial.restart_every_s or 0.0, self._restart)

    def to_the_end(self) -> None:
        """Run until all that can end has ended, or until the time that the load allows."""
        while self.tally.left:
            upcoming = self.time.next_at
            if upcoming is None or upcoming > self.load.limit_s:
                return
            self.time.step()


class OverAdmittedError(AssertionError):
    """More quota was held than the queues allow."""


def live(trial: Trial, load: Load) -> World:
    """Run a load to its end.

    Raises OverAdmittedError if more quota was held than there is, unless in Kueue mode: Kueue may
    admit in the same cycle into what another's victims still hold. Raises AssertionError if the
    engine's own invariants do not hold in the end.
    """
    world = World(trial, load)
    world.to_the_end()
    check_invariants(world.leader.engine)
    excess = world.tally.excess
    if excess and trial.mode is not Compatibility.KUEUE:
        raise OverAdmittedError(f"{excess} cores too many were held in {trial}")
    return world


def run(trial: Trial) -> Report:
    """Run a trial and tell what came of it; raises OverAdmittedError as `live` does."""
    load = LOADS[trial.load](random.Random(trial.seed)).scaled(trial.scale)
    world = live(trial, load)
    return report(trial, world.tally, world.effort, cores_s=world.store.cores.used_s)
