"""What the operator chose: the configuration files and the flags that override them, checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from queueing.checkpoints.rules.terms import USUAL_DRIVERS, Driver
from queueing.cli.compatibility import compatibility_option
from queueing.cli.options import Command, Decorator, cluster_options
from queueing.cli.output import UsageProblem
from queueing.core.settings import Compatibility

OUR_API_VERSION = "config.queueing.dev/v1alpha1"
OUR_KIND = "QueueingConfiguration"
LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The flags of `run`, as given; a child process is started with the same."""

    config: str | None
    queueing_config: str | None
    kubeconfig: str | None
    context: str | None
    feature_gates: str | None
    compatibility: str | None
    namespace: str | None
    log_format: str
    log_level: str

    def arguments(self) -> list[str]:
        """Spell the flags as a command line."""
        named = {
            "--config": self.config,
            "--queueing-config": self.queueing_config,
            "--kubeconfig": self.kubeconfig,
            "--context": self.context,
            "--feature-gates": self.feature_gates,
            "--compatibility": self.compatibility,
            "--namespace": self.namespace,
            "--log-format": self.log_format,
            "--log-level": self.log_level,
        }
        return [part for flag, value in named.items() if value for part in (flag, value)]


OPTIONS: tuple[Decorator, ...] = (
    click.option("--config", metavar="FILE", help="Configuration, in Kueue's format."),
    click.option("--queueing-config", metavar="FILE", help="Settings that only queueing has."),
    cluster_options("Kubeconfig.  [default: the pod's own]"),
    click.option("--feature-gates", metavar="A=true,B=false", help="Turn feature gates on or off."),
    compatibility_option(
        "Decide exactly as Kueue, or with queueing's differences.  [default: Queueing]"
    ),
    click.option("--namespace", metavar="NAME", help="Namespace of the controller."),
    click.option(
        "--log-format",
        type=click.Choice(("json", "text")),
        default="json",
        show_default=True,
        help="Format of the log.",
    ),
    click.option(
        "--log-level",
        type=click.Choice(LEVELS),
        default="info",
        show_default=True,
        help="Lowest level that is logged.",
    ),
)


def flags_of_the_controller(command: Command) -> Command:
    """Add the flags that `run` and its parts share; the command gets them as keywords."""
    for decorate in reversed(OPTIONS):
        command = decorate(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """A configuration that can be used."""

    configuration: Any
    """queueing_api.config.v1beta2.Configuration; not named here, for the start-up time."""
    compatibility: Compatibility
    drivers: frozenset[Driver] = USUAL_DRIVERS
    """How workloads may be asked to save."""
    page: str = ""
    """Where visitors find the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ours:
    """What our own file says."""

    compatibility: str | None = None
    drivers: frozenset[Driver] = USUAL_DRIVERS
    page: str = ""


def read_choices(flags: Flags) -> Choices:
    """Read and check everything.

    Raises UsageProblem naming the file or flag, the field, and what is wrong with its value.
    """
    from queueing.sim.intake import read_configuration  # noqa: PLC0415 - slow to import
    from queueing.sim.yaml_text import ManifestError  # noqa: PLC0415 - with it
    from queueing.translate.configuration import unknown_gates  # noqa: PLC0415 - with it
    from queueing.translate.gates import locked_off  # noqa: PLC0415 - with it
    from queueing_api.config.v1beta2 import Configuration  # noqa: PLC0415 - with it

    try:
        written = read_configuration(flags.config) if flags.config else Configuration()
        ours = _read_ours(flags.queueing_config) if flags.queueing_config else _Ours()
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    changes: dict[str, Any] = {}
    if flags.feature_gates:
        if written.feature_gates:
            raise UsageProblem(
                "feature gates for CLI and configuration cannot both specified: remove"
                f" --feature-gates, or featureGates from {flags.config}"
            )
        changes["feature_gates"] = parse_gates(flags.feature_gates)
    if flags.namespace:
        changes["namespace"] = flags.namespace
    configuration = written.model_copy(update=changes)
    if unknown := unknown_gates(configuration):
        raise _gate_problem(flags, unknown, "unrecognized feature gate")
    if locked := locked_off(configuration.feature_gates):
        raise _gate_problem(flags, locked, "cannot be switched off")
    return Choices(
        configuration=configuration,
        compatibility=Compatibility(
            flags.compatibility or ours.compatibility or Compatibility.QUEUEING
        ),
        drivers=ours.drivers,
        page=ours.page,
    )


def parse_gates(text: str) -> dict[str, bool]:
    """Read `A=true,B=false`."""
    gates: dict[str, bool] = {}
    for part in filter(None, text.split(",")):
        name, separator, value = part.strip().partition("=")
        if not separator or value.lower() not in {"true", "false"}:
            raise UsageProblem(f"--feature-gates: {part!r} must be NAME=true or NAME=false")
        gates[name] = value.lower() == "true"
    return gates


def _gate_problem(flags: Flags, gates: Sequence[str], problem: str) -> UsageProblem:
    """Say what is wrong with some gates, and where: by flag, or by file and line of the first."""
    from queueing.sim.documents import load  # noqa: PLC0415 - slow to import

    told = f"{problem}: {', '.join(gates)}"
    if flags.feature_gates or flags.config is None:
        return UsageProblem(f"--feature-gates: {told}")
    (document,) = load([flags.config])
    return UsageProblem(str(document.error(["featureGates", gates[0]], told)))


def _read_ours(file: str) -> _Ours:
    """Read our own file."""
    from queueing.sim.documents import load  # noqa: PLC0415 - slow to import
    from queueing.sim.yaml_text import ManifestError  # noqa: PLC0415 - with it
    from queueing.translate.page_links import page_problem  # noqa: PLC0415 - with it

    documents = load([file])
    if len(documents) != 1:
        problem = f"must hold one {OUR_KIND}"
        raise ManifestError(file=file, line=1, problem=problem)
    found = documents[0]
    for field, want in (("apiVersion", OUR_API_VERSION), ("kind", OUR_KIND)):
        if found.value[field] != want:
            raise found.error([field], f"{found.value[field]!r} must be {want}")
    known = {"apiVersion", "kind", "metadata", "compatibility", "checkpointDrivers", "pageURL"}
    for field in found.value.keys() - known:
        raise found.error([field], "unknown field")
    chosen = found.value.get("compatibility")
    words = [one.value for one in Compatibility]
    if chosen is not None and chosen not in words:
        raise found.error(["compatibility"], f"{chosen!r} must be {' or '.join(words)}")
    drivers = found.value.get("checkpointDrivers", sorted(USUAL_DRIVERS))
    wanted = list(drivers) if isinstance(drivers, list) else [drivers]
    for one in wanted:
        if one not in list(Driver):
            every = ", ".join(Driver)
            raise found.error(["checkpointDrivers"], f"{one!r} must be one of {every}")
    page = found.value.get("pageURL") or ""
    if problem := page_problem(str(page)) if page else "":
        raise found.error(["pageURL"], f"{page!r} {problem}")
    return _Ours(
        compatibility=None if chosen is None else str(chosen),
        drivers=frozenset(Driver(one) for one in wanted),
        page=str(page),
    )
