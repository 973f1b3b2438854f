"""`queueing trace`: where the time of a workload went, from the objects of the cluster alone."""

import asyncio
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from queueing.cli.get.states import owners, state_of
from queueing.cli.names import complete_subject
from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, structured
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.resolving import find_workload
from queueing.cli.subjects import Named, named
from queueing.cli.tables import rendered
from queueing.cli.trace.drawing import drawn, plain, told
from queueing.cli.trace.reading import Reading
from queueing.clock import SystemClock
from queueing.controller.telemetry.traces import trace_of
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.observe.waterfall import Phase, until_ready, waterfall

EPILOG = """\b
Examples:
  queueing trace job/train -n vision             where did the time of this Job go?
  queueing trace workload/job-train-1a2b3
  queueing trace jobset/sweep -o json
\b
No collector of traces is needed: Workload, job, pods, Events, Checkpoints and claims are read.
Events are kept for an hour, as a rule. With OTEL_EXPORTER_OTLP_ENDPOINT set, the controller
exports the same phases; the trace id below leads to them.
\b
Exit codes: 0; 1 when the server refuses; 2 when there is no cluster or no such object.
"""


@click.command(epilog=EPILOG)
@click.argument(
    "subject", nargs=-1, required=True, metavar="KIND/NAME", shell_complete=complete_subject
)
@click.option("-n", "--namespace", metavar="NAME", help="Namespace; else that of the context.")
@of_a_cluster
@output_option(("text", "json", "yaml"))
def command(
    *,
    subject: tuple[str, ...],
    namespace: str | None,
    kubeconfig: str | None,
    context: str | None,
    output: str,
) -> None:
    """Draw where the time of a workload went: queue, checks, preemption, start, pods, saving."""
    asked = named(subject)
    if asked.is_queue:
        raise UsageProblem("trace shows a job or a workload: KIND/NAME")
    try:
        with reaching_it():
            found = asyncio.run(_read(asked, namespace, (kubeconfig, context)))
    except KubeError as error:
        raise click.ClickException(str(error)) from error
    click.echo(found.text() if output == "text" else structured(found.plain(), output))


class Trace:
    """What the command found, to be written."""

    def __init__(
        self, workload: Mapping[str, Any], trace_id: str, whole: Phase, now: float
    ) -> None:
        self._workload, self._trace_id = workload, trace_id
        self._whole, self._now = whole, now

    def text(self) -> str:
        """Return the waterfall and what happened, for people."""
        ready = until_ready(self._whole)
        line = f"Workload {self._key()} ({', '.join(owners(self._workload))})"
        line += f": {state_of(self._workload).value}, trace {self._trace_id}"
        if ready is not None:
            line += f", pods ready after {ready:.0f}s"
        happened = list(told(self._whole))
        parts: list[RenderableType] = [Text(line, style="bold"), Text("")]
        parts.append(drawn(self._whole, self._now))
        parts += [Text(""), Text("What happened:"), *happened] if happened else []
        return rendered(Group(*parts))

    def plain(self) -> dict[str, Any]:
        """Return the same as plain values; a documented contract."""
        return {
            "workload": self._key(),
            "uid": self._workload["metadata"]["uid"],
            "jobs": owners(self._workload),
            "state": state_of(self._workload).value,
            "traceId": self._trace_id,
            "secondsUntilReady": until_ready(self._whole),
            "phases": plain(self._whole),
        }

    def _key(self) -> str:
        metadata = self._workload["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"


async def _read(asked: Named, namespace: str | None, where: tuple[str | None, str | None]) -> Trace:
    cluster = await load_cluster(*where)
    now = SystemClock().now()
    async with Client(cluster, user_agent="queueing-trace") as client:
        found = await find_workload(client, asked, namespace or cluster.namespace)
        reading = Reading(client, now)
        seen = await reading.of(found)
    for kind in reading.unreadable:
        click.echo(f"Warning: you may not read {kind}: what they tell is missing", err=True)
    return Trace(found, trace_of(seen.workload.metadata), waterfall(seen), now)
