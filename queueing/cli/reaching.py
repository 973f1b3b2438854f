"""How commands that write to a cluster are told which one, and what they say if it is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from queueing.cli.options import cluster_options
from queueing.cli.output import UsageProblem, no_answer
from queueing.kube.config import ConfigurationError
from queueing.kube.errors import UnreachableError

of_a_cluster = cluster_options("Kubeconfig; else $KUBECONFIG or the pod's own.")
"""Gives a command the options that name a cluster: `kubeconfig` and `context`."""


@contextmanager
def reaching_it() -> Iterator[None]:
    """Raise UsageProblem where there is no cluster; what a cluster refuses passes as KubeError."""
    try:
        yield
    except (ConfigurationError, OSError) as error:
        raise UsageProblem(f"there is no cluster: {error}") from error
    except UnreachableError as error:
        raise no_answer(error) from error
