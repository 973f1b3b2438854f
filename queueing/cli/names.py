"""Completion of the names of objects: the cluster is asked at TAB, and silence is an answer.

What takes long to import is imported only when a name is completed.
"""

from collections.abc import Callable
from types import MappingProxyType

import click

from queueing.cli.subjects import CLUSTER_QUEUE, LOCAL_QUEUE, SPELLINGS, WORKLOAD

PATIENCE_S = 2.0
"""How long a shell waits for names."""
Complete = Callable[[click.Context, click.Parameter, str], list[str]]
KINDS = MappingProxyType(
    {
        WORKLOAD: "Workload",
        "job": "Job",
        LOCAL_QUEUE: "LocalQueue",
        CLUSTER_QUEUE: "ClusterQueue",
        "cohort": "Cohort",
        "flavor": "ResourceFlavor",
    }
)


EXPLAINED = (WORKLOAD, "job", LOCAL_QUEUE, CLUSTER_QUEUE)


def complete_subject(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete `KIND/NAME`."""
    del parameter
    written, slash, start = incomplete.partition("/")
    if not slash:
        return [f"{kind}/" for kind in EXPLAINED if kind.startswith(written)]
    kind = SPELLINGS.get(written, written)
    if kind not in EXPLAINED:
        return []
    return [f"{written}/{name}" for name in _names(context, kind) if name.startswith(start)]


def complete_names(kind: str) -> Complete:
    """Return what completes the names of a kind."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        del parameter
        return [one for one in _names(context, kind) if one.startswith(incomplete)]

    return complete


def complete_name_of_kind(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Complete a name after its kind, which was typed as the argument `kind`."""
    written = str(context.params.get("kind") or "").removesuffix("s")
    kind = SPELLINGS.get(written, written)
    return complete_names(kind)(context, parameter, incomplete) if kind in KINDS else []


def _names(context: click.Context, kind: str) -> list[str]:
    from queueing.cli.live import names_of  # noqa: PLC0415 - half a second of imports

    asked = context.params
    return names_of(
        KINDS[kind],
        asked.get("namespace"),
        (asked.get("kubeconfig"), asked.get("context")),
        PATIENCE_S,
    )
