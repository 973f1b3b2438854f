"""The pods of Jobs, asked for when it matters: there are too many of them to watch."""

from collections.abc import Iterable
from typing import TypeVar

from queueing.kube.client import Client
from queueing.kube.listing import list_all
from queueing.kube.resources import PODS
from queueing.translate.labels import POD_JOB_UID

T = TypeVar("T")


async def pods_of(client: Client, namespace: str, jobs: Iterable[str], kind: type[T]) -> list[T]:
    """List the pods that Jobs of one namespace made, by the uids of the Jobs. Raises KubeError.

    At least one uid and some dozens at most: they stand in a URL. Pods that a deleted Job left
    behind are among them.
    """
    chosen = f"{POD_JOB_UID} in ({','.join(jobs)})"
    return await list_all(client, PODS.within(namespace), kind, label_selector=chosen)
