"""The entry point: `queueing COMMAND`."""

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

import click

from queueing.cli import interrupts
from queueing.cli.lazy import CommandEntry, LazyGroup
from queueing.cli.production.lifeline import follow

COMMANDS: Mapping[str, CommandEntry] = MappingProxyType(
    {
        "demo": CommandEntry(
            "queueing.cli.local.demo", "Watch forty Jobs of three teams queue, in a minute."
        ),
        "dev": CommandEntry(
            "queueing.cli.local.dev", "Run a small cluster in one process, to try with kubectl."
        ),
        "explain": CommandEntry(
            "queueing.cli.explain", "Say why a workload waits, and what would help it."
        ),
        "get": CommandEntry(
            "queueing.cli.get.command", "List workloads, queues, cohorts or flavors."
        ),
        "top": CommandEntry("queueing.cli.get.top", "Watch how full queues are, and who waits."),
        "trace": CommandEntry(
            "queueing.cli.trace.command", "Draw where the time of a workload went."
        ),
        "ui": CommandEntry("queueing.cli.ui", "Open the page in a browser, as yourself."),
        "submit": CommandEntry(
            "queueing.cli.submit.command", "Queue a command or a manifest, and follow it."
        ),
        "plan": CommandEntry(
            "queueing.cli.plan", "Show what would be admitted, preempted or left pending."
        ),
        "simulate": CommandEntry(
            "queueing.cli.simulate.command", "Try queues and a load in virtual time."
        ),
        "record": CommandEntry("queueing.cli.record", "Write down what a running controller sees."),
        "replay": CommandEntry(
            "queueing.cli.replay", "Repeat a recording of a controller's decisions."
        ),
        "credits": CommandEntry(
            "queueing.cli.credits", "Show who lent quota to whom, and the resulting weights."
        ),
        "budgets": CommandEntry(
            "queueing.cli.budgets", "Show hard budgets, and what is left of them."
        ),
        "usage": CommandEntry(
            "queueing.cli.usage.command", "Show who used how much, and what it costs."
        ),
        "devices": CommandEntry(
            "queueing.cli.devices", "Show the devices of flavors, and who holds them."
        ),
        "topology": CommandEntry(
            "queueing.cli.topology.command",
            "Show racks and nodes: what fits where, who sits there.",
        ),
        "kind": CommandEntry(
            "queueing.cli.kind.command", "Show kinds of jobs, and try a description of another."
        ),
        "run": CommandEntry("queueing.cli.production.run", "Run the controller on a cluster."),
        "stop": CommandEntry(
            "queueing.cli.stop", "Stop a workload, after it has saved its work, or a queue."
        ),
        "suspend": CommandEntry(
            "queueing.cli.suspend", "Stop a workload, after it has saved its work."
        ),
        "resume": CommandEntry(
            "queueing.cli.resume", "Queue a stopped workload again, or open a stopped queue."
        ),
        "requeue": CommandEntry(
            "queueing.cli.requeue", "Give up what a workload holds, and queue it again."
        ),
        "create": CommandEntry(
            "queueing.cli.create",
            "Create a ClusterQueue, a LocalQueue, a Cohort or a ResourceFlavor.",
        ),
        "delete": CommandEntry(
            "queueing.cli.delete", "Delete a workload with its job, or a queue."
        ),
        "crds": CommandEntry("queueing.cli.crds", "Print the custom resource definitions."),
        "manifests": CommandEntry(
            "queueing.cli.manifests", "Print CRDs, policies and webhooks for a configuration."
        ),
        "hand-over": CommandEntry("queueing.cli.hand_over", "Hand a cluster over to Kueue."),
        "uninstall": CommandEntry(
            "queueing.cli.uninstall", "Remove finalizers when no replica runs any more."
        ),
        "completion": CommandEntry(
            "queueing.cli.completion", "Print the shell's completion script."
        ),
        "serve": CommandEntry(
            "queueing.cli.production.serve", "Part of run: webhooks, probes, metrics.", hidden=True
        ),
        "estimate": CommandEntry(
            "queueing.cli.production.estimate", "Part of run: estimates.", hidden=True
        ),
        "version": CommandEntry("queueing.cli.version", "Print the version."),
    }
)

HELP_FLAGS = ["-h", "--help"]

EPILOG = """\b
Examples:
  queueing demo                                   see it work, without a cluster
  queueing plan -f queues.yaml -f job.yaml        see what would happen
  queueing run --config /etc/queueing/config.yaml run the controller
"""


@click.group(
    cls=LazyGroup,
    entries=COMMANDS,
    epilog=EPILOG,
    context_settings={"help_option_names": HELP_FLAGS, "max_content_width": 100},
)
@click.version_option(package_name="queueing", message="%(prog)s %(version)s")
def cli() -> None:
    """Job queueing and gang admission for Kubernetes, with Kueue's API."""
    interrupts.end_in_order()  # by now the command is loaded


def main() -> None:
    """Run the command line; Ctrl-C ends with the code that shells expect of it."""
    follow(os.environ)
    try:
        code = cli.main(standalone_mode=False, prog_name=program_name())
    except click.Abort:
        click.echo("Interrupted.", err=True)
        code = interrupts.EXIT_CODE
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        code = 141
    interrupts.end_at_once()
    sys.exit(code if isinstance(code, int) else 0)


def program_name() -> str:
    """Return the name that the user knows: as a kubectl plugin it is `kubectl queueing`."""
    return "kubectl queueing" if "kubectl-queueing" in sys.argv[0] else "queueing"


if __name__ == "__main__":
    main()
