"""The webhooks of a local cluster: the embedded API server asks them as a real one would.

They answer in this process, without TLS, on loopback. Invariant: a Job of a managed namespace is
suspended when it is created, so that none of its pods starts before its admission. They convert
too: while they answer, Kueue's kinds are served in its older version beside the stored one. And
they are asked about all kinds, as this server does not evaluate the rules of definitions.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

from queueing.apiserver.server import EmbeddedServer
from queueing.cli.loopback import on_loopback
from queueing.kinds.registry import pods_on
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving.finalizer_release import release_finalizers
from queueing.serving.routes import webhook_application
from queueing.serving.surroundings import WatchedObjects as Around
from queueing.serving.surroundings import watches
from queueing.translate.configuration import is_enabled, managed_namespaces
from queueing.webhooks.admission import WebhookSettings
from queueing.webhooks.configurations import instead_of_definitions, render
from queueing.webhooks.scope import MINOR_WITH_MUTATING_POLICIES, Scope
from queueing.webhooks.suspension import kinds_on
from queueing_api.config.v1beta2 import Configuration
from queueing_api.crd.generate import WebhookConversion, crds
from queueing_api.kueue.convert import convert_review

LEFT_OUT: Final = frozenset({"mjobwithoutqueue.kb.io", "vworkload.kb.io", "vfarewell.queueing.dev"})
"""The first two add nothing here: what they would be asked is asked of others, or is our own."""


@asynccontextmanager
async def local_webhooks(
    server: EmbeddedServer, configuration: Configuration
) -> AsyncIterator[None]:
    """Answer the server's reviews until the block ends; its requests wait for nothing else."""
    managed = managed_namespaces(configuration)
    kinds = kinds_on(configuration.integrations.frameworks, configuration.feature_gates)
    around = Around(
        managed,
        configuration.manage_jobs_without_queue_name,
        kinds,
        default_class=is_enabled(configuration, "WorkloadPriorityClassDefaulting"),
    )
    async with Client(Cluster.plain(server.url), "queueing-webhooks") as client:
        application = webhook_application(
            around.around, WebhookSettings(), convert_review, partial(release_finalizers, client)
        )
        minor = MINOR_WITH_MUTATING_POLICIES - 1
        pods = pods_on(configuration.integrations.frameworks)
        older = Scope(namespaces=managed, kinds=kinds, pods=pods, minor=minor)
        async with on_loopback(application) as url, asyncio.TaskGroup() as group:
            reflectors = watches(client, around)
            tasks = [group.create_task(one.run(), name="webhooks") for one in reflectors]
            for one in reflectors:
                await one.synced.wait()
            server.load(crds(WebhookConversion(url=f"{url}/convert")))
            configurations = (*render(older), instead_of_definitions(older))
            server.load(_at(url, one) for one in configurations)
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()


def _at(url: str, configuration: dict[str, Any]) -> dict[str, Any]:
    hooks = [
        {key: value for key, value in hook.items() if key != "matchConditions"}
        | {"clientConfig": {"url": url + hook["clientConfig"]["service"]["path"]}}
        for hook in configuration["webhooks"]
        if hook["name"] not in LEFT_OUT
    ]
    return {**configuration, "webhooks": hooks}
