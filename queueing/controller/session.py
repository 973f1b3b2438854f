"""One term of leadership: list all objects, then decide and write until the Lease is lost.

`app` runs one session per term. It begins with empty memory, so that nothing that an earlier term
assumed can outlive it.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from typing import Any

from queueing.controller.composition import Parts, TermInputs
from queueing.controller.intake import watches
from queueing.controller.workers import Workers
from queueing.kube.writer import WriteClass
from queueing.state.memory.memory import Changed

logger = logging.getLogger(__name__)

GANG_WORKERS = 4
"""How many gangs are reconciled at the same time."""
VARIANT_WORKERS = 4
"""How many Workloads with variants are reconciled at the same time."""
DRAIN_S = 5.0
"""How long writes in flight may still take when the term ends, in seconds."""


class Session:
    """Starts the parts of one term in order, and stops them in order."""

    def __init__(self, around: TermInputs) -> None:
        self._around, self._rules = around, around.rules
        self._parts = Parts(around)

    async def run(self) -> None:
        """Lead until cancelled; then store the credit ledgers and let writes in flight end."""
        parts = self._parts
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(parts.writer.run(), name="writer")
                with self._around.listing():
                    await self._follow(group)
                try:
                    await self._work()
                finally:
                    await parts.credits.farewell()
                    await parts.writer.drain(DRAIN_S)
        finally:
            self._around.reporter.left()
            parts.recorder.close()
            parts.queues.close()
            parts.checkpoints.close()

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        """Start the reflectors and wait until each has listed all objects of its kind."""
        parts, client = self._parts, self._around.client
        # Devices first: the facts of ResourceFlavors and Workloads depend on them.
        await parts.devices.follow(group, client)
        reflectors = list(watches.reflectors(client, parts.pump, parts.admin, parts.on_flavor))
        reflectors += parts.reflectors_of_pods()
        for reflector, name in reflectors:
            group.create_task(reflector.run(), name=f"reflector {name}")
        ours = [
            *parts.checkpoints.reflectors(client),
            *parts.credits.reflectors(client),
            parts.queueable_kinds.reflector(client),
            *parts.pod_owners.reflectors(client),
        ]
        for reflector, name in ours:
            group.create_task(reflector.run(), name=f"reflector {name}")
        for reflector, _ in reflectors:
            await reflector.synced.wait()
        for reflector, _ in ours:
            await reflector.until_known()
        await parts.kinds.follow(group)
        await parts.placement.follow(group, client)
        parts.devices.synced()
        parts.pump.weigh_anew()
        self._around.reporter.synced(parts.objects, parts.engine)
        objects = parts.objects
        logger.info("synced: %d workloads, %d jobs", len(objects.workloads), len(objects.jobs))

    async def _work(self) -> None:
        """Run all loops and workers until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, loop in self._loops():
                group.create_task(loop, name=name)
            for workers in self._workers():
                workers.start(group)

    def _loops(self) -> Iterator[tuple[str, Coroutine[Any, Any, Any]]]:
        """Yield the loops that run for the whole term, each with the name of its task."""
        parts = self._parts
        with_share = self._rules.settings.fair_sharing is not None
        yield "cycles", parts.cycles.run()
        yield "unknown outcomes", parts.effects.resolve()
        yield "late evictions", parts.effects.late_evictions.run()
        yield "reasons to wait", parts.waiting_reasons.run(parts.writer, parts.pressure)
        yield "what can wait", parts.deferral.run()
        yield "finalizers", parts.finalizers.run()
        yield "credits", parts.credits.run()
        yield "statuses", parts.statuses.run(self._told, with_share=with_share)
        yield "devices", parts.devices.run()
        yield "templates of work that is over", parts.devices.template_cleanup.run()

    def _workers(self) -> Iterator[Workers]:
        """Yield the workers of every queue of keys."""
        parts, rules, queues = self._parts, self._rules, self._parts.queues
        yield Workers("jobs", queues.jobs, parts.jobs.look, rules.job_workers)
        yield Workers("gangs", queues.gangs, parts.jobs.look_at_gang, GANG_WORKERS)
        yield from parts.checkpoints.workers()
        yield from parts.devices.workers()
        yield Workers("variants", queues.variants, parts.variants.look, VARIANT_WORKERS)
        yield Workers("queueable kinds", queues.queueable_kinds, parts.queueable_kinds.look)
        yield Workers("workloads", queues.workloads, parts.workloads.look, rules.workload_workers)

    def _told(self, changed: Changed) -> None:
        parts = self._parts
        waiting = {kind.name.lower(): parts.writer.waiting(kind) for kind in WriteClass}
        self._around.reporter.behind(waiting, parts.recorder.dropped)
        self._around.reporter.changed(changed)
