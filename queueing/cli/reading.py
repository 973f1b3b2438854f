"""How commands that only ask are told what to read: files, or the objects of a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from queueing.cli.options import Command, cluster_options, files_option
from queueing.sim.documents import LIVE, Document, load, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSource:
    """What was named on the command line: files, else a cluster."""

    files: tuple[str, ...]
    kubeconfig: str | None
    context: str | None

    def documents(self, kinds: Sequence[str], *, beside: Sequence[str] = ()) -> list[Document]:
        """Return all that the files say, else the cluster's objects of some kinds.

        Kinds in `beside` are left out when the caller may not read them. Raises ManifestError for
        a file and UsageProblem for a cluster that cannot be read.
        """
        if self.files:
            return load(self.files)
        from queueing.cli.live import read_cluster  # noqa: PLC0415 - half a second of imports

        text = read_cluster(self.kubeconfig, self.context, kinds, beside=beside)
        return parse(text, file=LIVE)


def of_files_or_a_cluster(command: Command) -> Command:
    """Give a command the options that say what to read; it gets them as `source`."""

    @wraps(command)
    def told(
        *, files: tuple[str, ...], kubeconfig: str | None, context: str | None, **options: Any
    ) -> None:
        command(source=ObjectSource(files=files, kubeconfig=kubeconfig, context=context), **options)

    of_a_cluster = cluster_options("Kubeconfig of the cluster.")
    return files_option("Read this file or folder instead of the cluster.")(of_a_cluster(told))
