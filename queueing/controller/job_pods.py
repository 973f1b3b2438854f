"""Lists the pods of Jobs when they are needed: a cluster has too many pods to watch them all."""

from collections.abc import Iterable
from typing import TypeVar

from queueing.kube.client import Client
from queueing.kube.listing import list_all
from queueing.kube.resources import PODS
from queueing.translate.labels import POD_JOB_UID

T = TypeVar("T")


async def pods_of(client: Client, namespace: str, jobs: Iterable[str], kind: type[T]) -> list[T]:
    """Return the pods that Jobs of one namespace created, by the uids of the Jobs.

    At least one uid and some dozens at most, because they are part of the URL. Pods that a deleted
    Job left behind are included. Raises KubeError.
    """
    return await labelled_pods(client, namespace, (POD_JOB_UID, jobs), kind)


async def labelled_pods(
    client: Client, namespace: str, label: tuple[str, Iterable[str]], kind: type[T]
) -> list[T]:
    """Return the pods of a namespace whose label has one of some values: at least one.

    Raises KubeError.
    """
    name, values = label
    chosen = f"{name} in ({','.join(values)})"
    return await list_all(client, PODS.within(namespace), kind, label_selector=chosen)
