"""What is simulated: a study, made of a scenario, a trace, a recording or a cluster's past."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from queueing.cli.output import UsageProblem
from queueing.core.credits.facts import CreditFact
from queueing.core.facts import (
    ClusterQueueFact,
    Fact,
    FlavorFact,
    FlavorQuotas,
    LocalQueueFact,
    NamespaceFact,
    Quota,
    ResourceGroup,
    WorkloadFact,
)
from queueing.core.names import FlavorName, Key, QueueName, ResourceName
from queueing.core.selectors import Selector
from queueing.core.settings import Compatibility
from queueing.recording.lines import SUFFIXES
from queueing.sim.documents import LIVE, Document, load, parse
from queueing.sim.intake import Intake, read_configuration, read_world
from queueing.sim.simulation.arrivals import Arrival, in_time
from queueing.sim.simulation.past import arrivals_of
from queueing.sim.simulation.recorded import identity, read_recording
from queueing.sim.simulation.scenario import Plan, generated, taken_apart
from queueing.sim.simulation.study import Study
from queueing.sim.simulation.swf import Mapped, Trace, read_swf
from queueing_api.config.v1beta2 import Configuration

DAY_S = 86_400.0
OF_TRACES = "trace"
"""The name of namespace, queues and flavor where a trace comes without a scenario."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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


def study_of(scenario: str | None, asked: Asked) -> Study:
    """Make the study of one scenario, with the trace or the past that goes with it.

    Raises ManifestError and UsageProblem.
    """
    if asked.trace is not None and asked.trace.endswith(SUFFIXES):
        return _of_recording(scenario, asked, asked.trace)
    written = load([scenario]) if scenario is not None else []
    plan, documents = taken_apart(written)
    live = _live(asked) if asked.past_s is not None else []
    given = {_identity(one) for one in documents}
    documents = [*(one for one in live if _identity(one) not in given), *documents]
    configuration = read_configuration(asked.config) if asked.config else None
    world = _world(documents, asked, configuration)
    for warning in world.warnings if asked.past_s is None else ():
        click.echo(f"Warning: {warning}", err=True)
    facts, begins = world.facts, asked.now
    if asked.past_s is not None:
        begins = asked.now - asked.past_s
        workloads = [one for one in facts if isinstance(one, WorkloadFact)]
        arrivals = arrivals_of(workloads, begins)
        facts = tuple(one for one in facts if not isinstance(one, WorkloadFact))
    else:
        arrivals = []
    arrivals += generated(_seeded(plan, asked), begins)
    if asked.trace is not None:
        added, traced = _traced(asked, plan, bare=scenario is None)
        facts, arrivals = (*facts, *added), [*arrivals, *traced]
    study = Study(
        name=_name(scenario, asked),
        facts=facts,
        settings=world.settings,
        begins=begins,
        arrivals=in_time(arrivals),
        until_s=plan.until_s,
        seed=plan.seed if asked.seed is None else asked.seed,
        runs=plan.runs,
        leaving=plan.leaving,
    )
    _check(study, scenario or asked.trace or LIVE)
    return study


def _of_recording(scenario: str | None, asked: Asked, file: str) -> Study:
    """Return what a controller saw; objects of a scenario replace those of the same name."""
    recorded = read_recording(file)
    asked = replace(asked, compatibility=asked.compatibility or recorded.settings.compatibility)
    plan, documents = taken_apart(load([scenario]) if scenario is not None else [])
    configuration = read_configuration(asked.config) if asked.config else None
    over = _world(documents, asked, configuration).facts if documents else ()
    given = {identity(one) for one in over}
    settings = replace(recorded.settings, compatibility=_compatibility(asked))
    facts = (*(one for one in recorded.objects if identity(one) not in given), *over)
    coming = _with_a_queue(recorded.arrivals, facts)
    study = Study(
        name=_name(scenario, asked),
        facts=facts,
        settings=settings,
        begins=recorded.begins,
        arrivals=in_time([*coming, *generated(_seeded(plan, asked), recorded.begins)]),
        until_s=plan.until_s,
        seed=plan.seed if asked.seed is None else asked.seed,
        runs=plan.runs,
        leaving=plan.leaving,
    )
    _check(study, file)
    return study


def _with_a_queue(arrivals: Sequence[Arrival], facts: Sequence[Fact | CreditFact]) -> list[Arrival]:
    """Leave out who came to a LocalQueue that was deleted while it was recorded, and say so."""
    doors = {one.key for one in facts if isinstance(one, LocalQueueFact)}
    kept = [one for one in arrivals if one.fact.local_queue in doors]
    if len(kept) < len(arrivals):
        gone = sorted({str(one.fact.local_queue) for one in arrivals} - doors)
        left_out, names = len(arrivals) - len(kept), ", ".join(gone)
        click.echo(f"Warning: {left_out} workloads left out: no LocalQueue {names}", err=True)
    return kept


def _seeded(plan: Plan, asked: Asked) -> Plan:
    return plan if asked.seed is None else replace(plan, seed=asked.seed)


def _world(
    documents: Sequence[Document], asked: Asked, configuration: Configuration | None
) -> Intake:
    return read_world(
        documents,
        now=asked.now,
        compatibility=_compatibility(asked),
        configuration=configuration,
    )


def _compatibility(asked: Asked) -> Compatibility:
    return asked.compatibility or Compatibility.QUEUEING


def _live(asked: Asked) -> list[Document]:
    from queueing.cli.live import read_cluster  # noqa: PLC0415 - half a second of imports

    return parse(read_cluster(asked.kubeconfig, asked.context), file=LIVE)


def _identity(document: Document) -> tuple[str, ...]:
    namespace = document.value["metadata"].get("namespace") or ""
    return document.group, document.kind, str(namespace), document.name


def _name(scenario: str | None, asked: Asked) -> str:
    parts = [Path(one).name for one in (scenario, asked.trace) if one]
    return " with ".join(parts) or "the cluster's past"


def _traced(asked: Asked, plan: Plan, *, bare: bool) -> tuple[list[Fact], list[Arrival]]:
    """Return the jobs of a trace and, without a scenario, a queue as large as its machine."""
    assert asked.trace is not None  # noqa: S101 - the caller asked
    mapped = plan.mapped or Mapped(queue=Key(f"{OF_TRACES}/{OF_TRACES}"))
    if plan.mapped is None and not bare:
        raise UsageProblem(
            "the scenario does not say where the jobs of the trace go: write in its Simulation "
            "spec: {trace: {queue: NAMESPACE/LOCALQUEUE}}"
        )
    trace = Trace(asked.trace)
    arrivals = list(read_swf(trace, asked.now, mapped, skip_broken=asked.skip_broken))
    if trace.broken:
        click.echo(
            f"Warning: {len(trace.broken)} lines left out; the first: {trace.broken[0]}", err=True
        )
    if trace.left_out:
        click.echo(f"Warning: {trace.left_out} jobs never ran and were left out", err=True)
    if not arrivals:
        raise UsageProblem(f"{asked.trace} holds no job that ran")
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
