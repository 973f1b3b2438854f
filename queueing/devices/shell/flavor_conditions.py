"""Writes the condition `Active` of DeviceFlavors: whether the flavor can be used."""

import logging
from collections.abc import Callable, Container
from dataclasses import dataclass

from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.rules.messages import DeviceReason
from queueing.devices.wire.objects import DeviceFlavor
from queueing.kube.errors import KubeError
from queueing.kube.resources import DEVICE_FLAVORS
from queueing.translate.outbound.conditions import Conditions, patch

logger = logging.getLogger(__name__)

READY = "Ready"
CONTRADICTED = "Contradicted"


@dataclass(frozen=True, slots=True)
class FlavorConditions:
    """Keeps the conditions of DeviceFlavors up to date."""

    memory: DeviceMemory
    writes: LeaderWrites
    now: Callable[[], float]
    flavors: Container[str] = ()
    """Names of the ResourceFlavors that exist."""

    async def write(self) -> bool:
        """Bring all conditions up to date; False if one could not be written.

        Nothing is said of a DeviceFlavor that Workloads are not judged by yet.
        """
        written = True
        for found in self.memory.joined:
            reason, message = self._judged(found)
            meta = found.metadata
            conditions = Conditions(
                found.status.conditions, now=self.now(), generation=meta.generation
            )
            before = conditions.wire()
            conditions.set("Active", true=reason == READY, reason=reason, message=message)
            if conditions.wire() == before:
                continue
            target = DEVICE_FLAVORS.at(meta.name, subresource="status")
            body = patch(meta, {"status": {"conditions": conditions.wire()}})
            try:
                await self.writes.patch(target, body)
            except KubeError as error:
                logger.debug("%s: the status was not written: %s", target.label, error)
                written = False
        return written

    def _judged(self, found: DeviceFlavor) -> tuple[str, str]:
        catalog = self.memory.catalog
        problem = catalog.problems.get(found.metadata.name)
        if problem:
            return CONTRADICTED, problem
        for one in found.spec.resources:
            name = one.request.device_class_name
            if name and name not in catalog.classes:
                told = f"DeviceClass {name} of {one.name} is not installed"
                return DeviceReason.CLASS_NOT_FOUND, told
        target = found.spec.resource_flavor
        if target not in self.flavors:
            # Its rules count all the same: it may be made first.
            return READY, f"The flavor can be used once there is a ResourceFlavor {target}"
        return READY, "The flavor can be used"
