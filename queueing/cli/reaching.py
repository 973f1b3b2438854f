"""How commands that write to a cluster are told which one, and what they say if it is not there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from queueing.cli.output import UsageProblem, no_answer
from queueing.kube.config import ConfigurationError
from queueing.kube.errors import UnreachableError

Command = Callable[..., Any]


def of_a_cluster(command: Command) -> Command:
    """Give a command the options that name a cluster: `kubeconfig` and `context`."""
    at = "Kubeconfig; else $KUBECONFIG or the pod's own."
    command = click.option("--context", metavar="NAME", help="Context of the kubeconfig.")(command)
    return click.option("--kubeconfig", metavar="FILE", help=at)(command)


@contextmanager
def reaching_it() -> Iterator[None]:
    """Raise UsageProblem where there is no cluster; what a cluster refuses passes as KubeError."""
    try:
        yield
    except (ConfigurationError, OSError) as error:
        raise UsageProblem(f"there is no cluster: {error}") from error
    except UnreachableError as error:
        raise no_answer(error) from error
