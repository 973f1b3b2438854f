"""`queueing dev`: a cluster of one process, for kubectl to play with."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from queueing.apiserver.server import AddressError, EmbeddedServer
from queueing.cli.local.cluster import (
    ServerLocation,
    alone,
    controlled,
    local_cluster,
    sample_objects,
    sample_racks,
    samples_folder,
    usual,
)
from queueing.cli.local.page import local_page
from queueing.cli.options import files_option
from queueing.cli.output import UsageProblem
from queueing.core.settings import Compatibility
from queueing.kinds.registry import SUPPORTED
from queueing.observe.logs import LogFormat, configure
from queueing.sim.documents import Document, load
from queueing.sim.intake import read_configuration
from queueing.sim.kinds import check_shape, is_known, upgraded
from queueing.sim.yaml_text import ManifestError
from queueing.translate.unheeded import unheeded
from queueing_api.config.v1beta2 import Configuration

logger = logging.getLogger(__name__)

EPILOG = """\b
Examples:
  queueing dev
  queueing dev --data cluster.db            keep the objects from one run to the next
  queueing dev --no-samples -f my-queues/   start with objects of your own
\b
Jobs run for as many seconds as their annotation queueing.dev/simulate-seconds says, or for one.
Ctrl-C ends it; without --data nothing is left behind. Not for production: use `queueing run`.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep the objects in this file between runs.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    default=0,
    help="Port on loopback.  [default: any]",
)
@click.option(
    "--samples/--no-samples", default=True, show_default=True, help="Start with the sample queues."
)
@files_option("Apply this file or folder at the start.")
@click.option("--config", metavar="FILE", help="Configuration, in Kueue's format.")
@click.option("--verbose", "-v", is_flag=True, help="Log what the controller decides.")
def command(  # noqa: PLR0913 - one parameter per option
    *,
    data: Path | None,
    port: int,
    samples: bool,
    files: tuple[str, ...],
    config: str | None,
    verbose: bool,
) -> None:
    """Run an API server, simulated nodes and queueing itself, all in this process.

    Prints how kubectl reaches it, and runs until Ctrl-C.
    """
    configure(LogFormat.TEXT, "INFO" if verbose else "WARNING")
    try:
        written = read_configuration(config) if config else usual()
        given = (*sample_objects(), *sample_racks()) if samples else ()
        objects = [*given, *_checked(load(files))]
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    for sentence in unheeded(written, SUPPORTED):
        logger.warning("%s", sentence)
    try:
        place = ServerLocation(data=data, port=port)
        asyncio.run(_serve(place, objects, alone(written), samples=samples))
    except asyncio.CancelledError:
        click.echo("Stopped.")
    except AddressError as error:
        raise UsageProblem(f"{error}; choose another --port, or leave it out") from error
    except ManifestError as error:
        raise UsageProblem(str(error)) from error


def _checked(documents: Iterable[Document]) -> list[Document]:
    found = list(documents)
    for document in found:
        if document.kind == "Configuration":
            raise document.error(
                [], "a Configuration is no object of a cluster: give it by --config"
            )
        if is_known(document):
            check_shape(document)
    return [upgraded(document) for document in found]


async def _serve(
    place: ServerLocation, objects: list[Document], configuration: Configuration, *, samples: bool
) -> None:
    _cancelled_by_sigterm()
    async with (
        local_cluster(place, objects) as server,
        _kubeconfig(server) as path,
        local_page(server, path.with_name("page.sock")) as page,
        controlled(
            server, configuration, Compatibility.QUEUEING, path.with_name("page.sock")
        ) as controller,
    ):
        click.echo(_welcome(server, path, page, samples=samples))
        await asyncio.wait([controller])
        _cancelled_by_sigterm()
    click.echo("Stopped.")


def _cancelled_by_sigterm() -> None:
    """Let SIGTERM cancel what runs here, so that its folder goes, as Ctrl-C does by itself.

    While the controller runs, it takes both signals for itself.
    """
    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


@asynccontextmanager
async def _kubeconfig(server: EmbeddedServer) -> AsyncIterator[Path]:
    """Give a kubeconfig file that exists as long as the server does."""
    with TemporaryDirectory(prefix="queueing-dev-") as folder:
        path = Path(folder) / "kubeconfig"
        path.write_text(server.kubeconfig(), encoding="utf-8")
        yield path


def _welcome(server: EmbeddedServer, path: Path, page: str, *, samples: bool) -> str:
    kubectl = f"kubectl --kubeconfig {path}"
    submit = [f"  {kubectl} create -f {samples_folder() / 'jobs'}"] if samples else []
    return "\n".join(
        (
            f"The API server listens on {server.url}. In another terminal:",
            "",
            f"  {kubectl} get clusterqueues",
            *submit,
            f"  {kubectl} get workloads -A --watch",
            f"  queueing top --kubeconfig {path}",
            "",
            f"In a browser: {page}",
            "",
            "Ctrl-C stops it.",
        )
    )
