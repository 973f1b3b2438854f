"""Records Events on Workload and Job that tell why pods of an admitted Workload lack devices.

Jobs whose pods are not all ready some time after the start are examined by a list of their pods,
less and less often. Pods that were created without their claims are replaced on that occasion. The
Events change no decision: a Workload that never gets its devices is evicted when waitForPodsReady
is over, as if its pods did not start for any other reason.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from queueing.controller.job_pods import pods_of_job
from queueing.controller.term import Term
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.rules.free import free_text
from queueing.devices.rules.messages import DeviceReason
from queueing.devices.shell.pod_replacement import PodReplacement
from queueing.devices.shell.starting import parts_of
from queueing.devices.wire.delays import (
    FAILED_CLAIM,
    NOT_STARTED,
    Delay,
    Pod,
    PodEvent,
    delay_of,
    lacks_a_claim,
    left_gated,
    made_anew,
    waits_for_devices,
)
from queueing.kube.listing import list_all
from queueing.kube.resources import Resource
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

PATIENCE_S = 10.0
"""Seconds for which pods may wait for devices before an Event says so."""
LOOK_EVERY_S = (10.0, 60.0)
"""The seconds to the next look, doubled each time: first and longest."""
ASKED_MAX = 3
"""How many pods of a Job have their Events read."""
_EVENTS = Resource("", "v1", "events", "Event")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """Examines admitted Workloads whose pods are not ready."""

    term: Term
    memory: DeviceMemory
    pod_replacement: PodReplacement
    injects: Callable[[], bool]
    """Says whether the API server adds claims to pods at their creation by now."""
    _looks: dict[str, int] = field(default_factory=dict)
    """By uid of the Workload: how often its pods were listed and found waiting."""

    async def look(self, workload: Workload) -> float | None:
        """Tell why the pods of a Workload wait, if they do. Raises KubeError.

        Returns the seconds until the next look; None when none is needed.
        """
        uid = workload.metadata.uid
        started = _started(workload)
        waiting = [] if started is None else list(self._waiting(workload))
        if started is None or not waiting:
            self._looks.pop(uid, None)
            to_start = [] if started is None else self._to_start(workload)
            if started is None or not to_start:
                return None
            if not self.injects() and self.term.clock.now() - started >= PATIENCE_S:
                self._tell(workload, to_start, NOT_STARTED)
            return PATIENCE_S
        left = started + PATIENCE_S - self.term.clock.now()
        if left > 0:
            return left
        count = self._looks[uid] = self._looks.get(uid, 0) + 1
        for job in waiting:
            delay = await self._why(job, workload)
            if delay is not None:
                self._tell(workload, [job], delay)
        first, last = LOOK_EVERY_S
        return min(first * 2.0 ** (count - 1), last)

    def _tell(self, workload: Workload, jobs: Iterable[JobView], delay: Delay) -> None:
        warning = delay.reason is not DeviceReason.REMADE
        self.term.events.workload(workload.metadata, delay.reason, delay.text, warning=warning)
        for job in jobs:
            self.term.events.job(job, delay.reason, delay.text, warning=warning)

    def forget(self, uid: str) -> None:
        """Forget a deleted Workload."""
        self._looks.pop(uid, None)

    def _waiting(self, workload: Workload) -> Iterator[JobView]:
        """Yield the Jobs of a Workload that were started and whose pods are not all ready."""
        for job, _ in parts_of(self.term.objects, workload):
            over = job.ended
            if not job.suspended and not over and not job.ready:
                yield job

    def _to_start(self, workload: Workload) -> list[JobView]:
        return [job for job, _ in parts_of(self.term.objects, workload) if job.suspended]

    async def _why(self, job: JobView, workload: Workload) -> Delay | None:
        client, namespace = self.term.writes.client, job.metadata.namespace
        pods = await pods_of_job(client, job, workload, Pod)
        controller = job.metadata.uid if job.kind.labels_pods else ""
        remade = await self.pod_replacement.remake(left_gated(pods, controller))
        if remade:
            return made_anew(remade, len(pods))
        without = [one for one in pods if waits_for_devices(one) and lacks_a_claim(one)]
        events = []
        for one in without[:ASKED_MAX]:
            chosen = f"involvedObject.uid={one.metadata.uid},reason={FAILED_CLAIM}"
            events += await list_all(
                client, _EVENTS.within(namespace), PodEvent, field_selector=chosen
            )
        return delay_of(pods, events, self._view(workload))

    def _view(self, workload: Workload) -> str:
        """Return a text on how many devices of the Workload's flavors are free."""
        admission = workload.status.admission
        assigned = {
            name
            for one in (admission.pod_set_assignments if admission else ())
            for name in one.flavors.values()
        }
        catalog, index = self.memory.catalog, self.memory.index
        served = {key: one for key, one in catalog.served.items() if key[0] in assigned}
        names = sorted({flavor for flavor, _ in served} & self.term.objects.flavors.keys())
        devices = {
            one.name: one
            for name in names
            for one in index.on(self.term.objects.flavors[name].spec.node_labels)
        }
        counters = {one.charge.name for one in served.values() if one.charge.type == "Counter"}
        return free_text(list(devices.values()), self.memory.held_devices(), index, counters)


def _started(workload: Workload) -> float | None:
    """Return since when the pods of a Workload should become ready; None when they need not."""
    status = workload.status
    admitted = status.true_condition("Admitted")
    if admitted is None or status.is_true("Finished") or status.is_true("Evicted"):
        return None
    ready = workload.status.condition("PodsReady")
    if ready is None or ready.status != "False":
        return admitted.changed
    return max(admitted.changed, ready.changed)
