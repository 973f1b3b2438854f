"""What a replica that does not lead shows: gauges of the objects that it watches, as Kueue does.

It decides and writes nothing, and forgets everything when it is elected: a term begins with lists
of its own.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from queueing.controller.configuration import ControllerRules
from queueing.controller.intake import watches
from queueing.controller.intake.admin_objects import AdminObjects
from queueing.controller.intake.pump import Pump
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.controller.work_queues import Unattended
from queueing.kube.client import Client
from queueing.state.engine import Engine

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 0.5
"""Seconds between two looks at who leads, and at what changed."""


@dataclass(frozen=True, slots=True)
class Standby:
    """Follows the objects while another replica leads."""

    client: Client
    rules: ControllerRules
    reporter: Reporter

    async def run(self) -> NoReturn:
        """Follow whenever another replica leads, until cancelled.

        A replica that finds nobody leading is elected soon, and lists everything then.
        """
        readiness = self.reporter.readiness
        while True:
            await _until(lambda: readiness.other_leads() and not readiness.elected)
            async with asyncio.TaskGroup() as group:
                following = group.create_task(self._follow(), name="standby")
                await _until(lambda: readiness.elected)
                following.cancel()

    async def _follow(self) -> NoReturn:
        objects, engine, nobody = Objects(), Engine(self.rules.settings), Unattended()
        objects.devices.configuration = self.rules.configuration
        pump = Pump(objects, engine, nobody, self.rules.resources)
        admin = AdminObjects(objects, pump, nobody)
        async with asyncio.TaskGroup() as group:
            made = list(watches.reflectors(self.client, pump, admin, admin.on_flavor))
            for reflector, name in made:
                group.create_task(reflector.run(), name=f"reflector {name}")
            for reflector, _ in made:
                await reflector.synced.wait()
            logger.info("standing by: %d workloads", len(objects.workloads))
            while True:
                self.reporter.follows(objects, engine)
                await asyncio.sleep(LOOK_EVERY_S)


async def _until(holds: Callable[[], bool]) -> None:
    while True:
        if holds():
            return
        await asyncio.sleep(LOOK_EVERY_S)
