"""What is simulated: a study, made of a scenario, a trace, a recording or a cluster's past."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from queueing.cli.output import UsageProblem
from queueing.core.credits.facts import CreditFact
from queueing.core.facts import (
    ClusterQueueFact,
    Fact,
    FlavorFact,
    LocalQueueFact,
    NamespaceFact,
    WorkloadFact,
)
from queueing.core.flavor_quotas import FlavorQuotas, Quota, ResourceGroup
from queueing.core.names import FlavorName, Key, QueueName, ResourceName
from queueing.core.selectors import Selector
from queueing.core.settings import Compatibility, Settings
from queueing.recording.lines import SUFFIXES
from queueing.sim.documents import LIVE, Document, load, parse
from queueing.sim.intake import Intake, read_configuration, read_world
from queueing.sim.kinds import over
from queueing.sim.simulation.arrivals import Arrival, in_time
from queueing.sim.simulation.past import arrivals_of
from queueing.sim.simulation.recorded import Recorded, identity, read_recording
from queueing.sim.simulation.scenario import Plan, generated, taken_apart
from queueing.sim.simulation.study import Study
from queueing.sim.simulation.swf import Mapped, Trace, read_swf

OF_TRACES = "trace"
"""The name of namespace, queues and flavor where a trace comes without a scenario."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the command."""

    now: float
    seed: int | None
    compatibility: Compatibility | None
    """None for that of a recording, else queueing's."""
    config: str | None
    trace: str | None
    skip_broken: bool
    past_s: float | None
    """How much of a cluster's past is simulated; None for none."""
    kubeconfig: str | None
    context: str | None

    @property
    def recording(self) -> str | None:
        """The trace, if it is a recording of a controller."""
        return self.trace if self.trace is not None and self.trace.endswith(SUFFIXES) else None


def studies_of(scenarios: Sequence[str | None], asked: Options) -> Iterator[Study]:
    """Yield the study of each scenario, with the trace or the past that goes with it.

    Raises ManifestError and UsageProblem.
    """
    written = [taken_apart(load([one]) if one is not None else []) for one in scenarios]
    base = _base(asked)
    for scenario, (plan, documents) in zip(scenarios, written, strict=True):
        seeded = plan if asked.seed is None else replace(plan, seed=asked.seed)
        yield _study(scenario, seeded, _start(base, documents, asked), asked)


def _study(scenario: str | None, plan: Plan, start: "_Start", asked: Options) -> Study:
    facts, arrivals = start.facts, [*start.arrivals, *generated(plan, start.begins)]
    if asked.trace is not None and asked.recording is None:
        added, traced = _traced(asked.trace, asked, plan, bare=scenario is None)
        facts, arrivals = (*facts, *added), [*arrivals, *traced]
    study = Study(
        name=_name(scenario, asked),
        facts=facts,
        settings=start.settings,
        begins=start.begins,
        arrivals=in_time(arrivals),
        until_s=plan.until_s,
        seed=plan.seed,
        runs=plan.runs,
        leaving=plan.leaving,
    )
    _check(study, asked.recording or scenario or asked.trace or LIVE)
    return study


def _base(asked: Options) -> Recorded | list[Document]:
    """Return what scenarios are laid over: a recording, or the objects of a cluster, if any.

    It is read once, so that two scenarios are compared on the same.
    """
    if asked.recording is not None:
        return read_recording(asked.recording)
    if asked.past_s is None:
        return []
    from queueing.cli.live import read_cluster  # noqa: PLC0415 - half a second of imports

    return parse(read_cluster(asked.kubeconfig, asked.context), file=LIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What is there when a simulation begins, and the past that comes once more."""

    facts: tuple[Fact | CreditFact, ...]
    settings: Settings
    begins: float
    arrivals: Sequence[Arrival] = ()


def _start(base: Recorded | list[Document], documents: list[Document], asked: Options) -> _Start:
    """Lay the objects of a scenario over what there is: they replace those of the same name."""
    if isinstance(base, Recorded):
        return _of_recording(base, documents, asked)
    world = _world(over(base, documents), asked, asked.compatibility)
    if asked.past_s is None:
        for warning in world.warnings:
            click.echo(f"Warning: {warning}", err=True)
        return _Start(facts=world.facts, settings=world.settings, begins=asked.now)
    begins = asked.now - asked.past_s
    workloads = [one for one in world.facts if isinstance(one, WorkloadFact)]
    return _Start(
        facts=tuple(one for one in world.facts if not isinstance(one, WorkloadFact)),
        settings=world.settings,
        begins=begins,
        arrivals=arrivals_of(workloads, begins),
    )


def _of_recording(recorded: Recorded, documents: list[Document], asked: Options) -> _Start:
    compatibility = asked.compatibility or recorded.settings.compatibility
    added = _world(documents, asked, compatibility).facts if documents else ()
    given = {identity(one) for one in added}
    facts = (*(one for one in recorded.objects if identity(one) not in given), *added)
    return _Start(
        facts=facts,
        settings=replace(recorded.settings, compatibility=compatibility),
        begins=recorded.begins,
        arrivals=_with_a_queue(recorded.arrivals, facts),
    )


def _with_a_queue(arrivals: Sequence[Arrival], facts: Sequence[Fact | CreditFact]) -> list[Arrival]:
    """Leave out who came to a LocalQueue that was deleted while it was recorded, and say so."""
    doors = {one.key for one in facts if isinstance(one, LocalQueueFact)}
    kept = [one for one in arrivals if one.fact.local_queue in doors]
    if len(kept) < len(arrivals):
        gone = sorted({str(one.fact.local_queue) for one in arrivals} - doors)
        left_out, names = len(arrivals) - len(kept), ", ".join(gone)
        click.echo(f"Warning: {left_out} workloads left out: no LocalQueue {names}", err=True)
    return kept


def _world(
    documents: Sequence[Document], asked: Options, compatibility: Compatibility | None
) -> Intake:
    return read_world(
        documents,
        now=asked.now,
        compatibility=compatibility or Compatibility.QUEUEING,
        configuration=read_configuration(asked.config) if asked.config else None,
    )


def _name(scenario: str | None, asked: Options) -> str:
    parts = [Path(one).name for one in (scenario, asked.trace) if one]
    return " with ".join(parts) or "the cluster's past"


def _traced(
    file: str, asked: Options, plan: Plan, *, bare: bool
) -> tuple[list[Fact], list[Arrival]]:
    """Return the jobs of a trace and, without a scenario, a queue as large as its machine."""
    mapped = plan.mapped or Mapped(queue=Key(f"{OF_TRACES}/{OF_TRACES}"))
    if plan.mapped is None and not bare:
        raise UsageProblem(
            "the scenario does not say where the jobs of the trace go: write in its Simulation "
            "spec: {trace: {queue: NAMESPACE/LOCALQUEUE}}"
        )
    trace = Trace(file)
    arrivals = list(read_swf(trace, asked.now, mapped, skip_broken=asked.skip_broken))
    if trace.broken:
        click.echo(
            f"Warning: {len(trace.broken)} lines left out; the first: {trace.broken[0]}", err=True
        )
    if trace.left_out:
        click.echo(f"Warning: {trace.left_out} jobs never ran and were left out", err=True)
    if not arrivals:
        raise UsageProblem(f"{file} holds no job that ran")
    return (_one_queue(trace.processors * mapped.unit) if bare else []), arrivals


def _one_queue(amount: int) -> list[Fact]:
    """Return one queue with so much cpu."""
    name, flavor, cpu = QueueName(OF_TRACES), FlavorName(OF_TRACES), ResourceName("cpu")
    quotas = FlavorQuotas(flavor=flavor, quotas=((cpu, Quota(nominal=amount)),))
    group = ResourceGroup(covered=(cpu,), flavors=(quotas,))
    return [
        FlavorFact(name=flavor),
        NamespaceFact(name=OF_TRACES, labels={"kubernetes.io/metadata.name": OF_TRACES}),
        ClusterQueueFact(name=name, groups=(group,), namespace_selector=Selector()),
        LocalQueueFact(key=Key(f"{OF_TRACES}/{OF_TRACES}"), cluster_queue=name),
    ]


def _check(study: Study, source: str) -> None:
    """Raise UsageProblem where nothing would happen, or a queue is not there."""
    doors = {one.key for one in study.facts if isinstance(one, LocalQueueFact)}
    asked = dict.fromkeys(one.fact.local_queue for one in study.arrivals)
    missing = [str(one) for one in asked if one not in doors]
    if missing:
        known = ", ".join(sorted(doors)) or "none"
        told = f"{source}: there is no LocalQueue {', '.join(missing)}; those there are: {known}"
        raise UsageProblem(told)
    if not study.arrivals and not any(isinstance(one, WorkloadFact) for one in study.facts):
        raise UsageProblem(
            f"{source}: no workload comes; list some, or generate them in a Simulation document, or"
            " give a trace with --trace"
        )
