"""Where `queueing explain` gets its answer: from the controller, else worked out from objects."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from queueing.cli import prospects
from queueing.cli.live import read_cluster
from queueing.cli.reaching import reaching_it
from queueing.cli.resolving import find_workload
from queueing.cli.subjects import CLUSTER_QUEUE, LOCAL_QUEUE, Named, is_made_for, is_meant, only
from queueing.core.names import Key, QueueName, name_of, namespace_of
from queueing.core.settings import Compatibility
from queueing.explain import answers
from queueing.explain.model import DECODER, Explanation
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError, NotFoundError, UnavailableError
from queueing.kube.request import Request
from queueing.serving.explanations import GROUP, path_of
from queueing.serving.frames import Subject
from queueing.sim.documents import LIVE, Document, parse
from queueing.sim.intake import read_configuration, read_world
from queueing.sim.rest import at_rest
from queueing.sim.world import SimulatedCluster

Options = Mapping[str, Any]


def plain(answer: Explanation) -> Any:
    """Return an answer as plain values."""
    return msgspec.json.decode(msgspec.json.encode(answer))


def ask_a_cluster(asked: Named, options: Options) -> Explanation:
    """Have the controller answer; where it does not, work the answer out from the objects.

    Raises UsageProblem where there is no cluster or no such object, ClickException where the server
    refuses.
    """
    try:
        with reaching_it():
            found, namespace = asyncio.run(_ask(asked, options))
    except KubeError as error:
        raise click.ClickException(str(error)) from error
    if found is not None:
        return found
    click.echo(
        "The controller does not serve explanations here: this is worked out from the objects of "
        "the cluster.",
        err=True,
    )
    text = read_cluster(options["kubeconfig"], options["context"])
    return work_out(parse(text, file=LIVE), asked, namespace, options)


async def _ask(asked: Named, options: Options) -> tuple[Explanation | None, str]:
    """Return the controller's answer, None where it serves none; and the namespace meant."""
    cluster = await load_cluster(options["kubeconfig"], options["context"])
    namespace = options["namespace"] or cluster.namespace
    async with Client(cluster, user_agent="queueing-explain") as client:
        subject = await subject_of(client, asked, namespace)
        try:
            body = await client.send(Request("GET", path_of(subject)))
        except NotFoundError as error:
            if GROUP not in str(error):
                return None, namespace
            where = "" if asked.kind == CLUSTER_QUEUE else f"in namespace {namespace}"
            only((), asked, where)
            raise
        except UnavailableError as error:
            click.echo(f"Warning: {error}", err=True)
            return None, namespace
        found = DECODER.decode(body)
        if options["eta"]:
            found = await prospects.asked_for(client, subject, found)
    return found, namespace


async def subject_of(client: Client, asked: Named, namespace: str) -> Subject:
    """Return what is asked about, as the controller calls it."""
    if asked.kind == CLUSTER_QUEUE:
        return Subject("clusterqueues", asked.name)
    if asked.kind == LOCAL_QUEUE:
        return Subject("localqueues", f"{namespace}/{asked.name}")
    workload = await find_workload(client, asked, namespace)
    return Subject("workloads", f"{namespace}/{workload['metadata']['name']}")


def work_out(
    documents: Sequence[Document], asked: Named, namespace: str | None, options: Options
) -> Explanation:
    """Answer from objects, after all that can be decided at once has been decided.

    Without a namespace all are looked in. Raises ManifestError and UsageProblem.
    """
    config = options["config"]
    world = read_world(
        documents,
        now=options["now"],
        compatibility=Compatibility(options["compatibility"]),
        configuration=read_configuration(config) if config else None,
    )
    for warning in world.warnings if namespace is None else ():
        click.echo(f"Warning: {warning}", err=True)
    cluster = at_rest(world.facts, settings=world.settings, now=options["now"])
    where = f"in namespace {namespace}" if namespace else ""
    answer = _answer(cluster, asked, namespace, _owned(documents, asked), where)
    if answer is None:
        only((), asked, "" if asked.kind == CLUSTER_QUEUE else where)
        raise AssertionError("who is not there was told")
    return (
        prospects.worked_out(answer, cluster, world, options["now"]) if options["eta"] else answer
    )


def _answer(
    cluster: SimulatedCluster, asked: Named, namespace: str | None, owned: set[str], where: str
) -> Explanation | None:
    engine = cluster.engine
    if asked.kind == CLUSTER_QUEUE:
        return answers.cluster_queue(engine, QueueName(asked.name))
    if asked.kind == LOCAL_QUEUE:
        doors = engine.memory.objects.local_queues
        keys = [one for one in doors if name_of(one) == asked.name and _is_in(one, namespace)]
        return answers.local_queue(engine, Key(only(keys, asked, where)))
    keys = [
        key
        for key in cluster.workloads
        if (key in owned or is_made_for(asked, name_of(key))) and _is_in(key, namespace)
    ]
    return answers.workload(engine, Key(only(keys, asked, where)))


def _owned(documents: Sequence[Document], asked: Named) -> set[str]:
    """Return the keys of Workloads that say that they belong to what is named."""
    return {
        f"{one.value['metadata'].get('namespace', 'default')}/{one.name}"
        for one in documents
        if one.kind == "Workload" and is_meant(asked, one.value)
    }


def _is_in(key: Key, namespace: str | None) -> bool:
    return namespace is None or namespace_of(key) == namespace
