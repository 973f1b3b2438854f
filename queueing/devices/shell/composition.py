"""Puts the package together for one term: its parts, what it watches, and its workers."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, NoReturn

import msgspec

from queueing.controller.admission_policies.injection import tried
from queueing.controller.intake.pump import Pump
from queueing.controller.term import Term
from queueing.controller.workers import Workers
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.devices.shell.claims import Claims
from queueing.devices.shell.delays import Delays
from queueing.devices.shell.evictions import DeviceEvictions
from queueing.devices.shell.flavor_conditions import FlavorConditions
from queueing.devices.shell.intake import Callbacks, DeviceIntake
from queueing.devices.shell.pod_replacement import PodReplacement
from queueing.devices.shell.starting import DeviceStart
from queueing.devices.shell.template_cleanup import TemplateCleanup
from queueing.devices.shell.upkeep import Upkeep
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import WORKLOAD_UID
from queueing.devices.wire.own_claims import OwnClaims
from queueing.kube import resources
from queueing.kube.client import Client, ListQuery
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError
from queueing.kube.listing import decode_page
from queueing.kube.reflector import (
    Added,
    Modified,
    Reflector,
    ReflectorSettings,
    Synced,
    WatchEvent,
)
from queueing.translate.requests import Surroundings
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload

WORKERS = 4
"""How many Workloads with claims are reconciled at the same time."""
GATHER_S = 0.05
"""Seconds for which changes are gathered: the slices of one pool come one after the other."""
_ONE = ListQuery(label_selector=WORKLOAD_UID, limit=1)
RETRY_S = 1.0
"""Seconds until the condition of a DeviceFlavor that could not be written is tried again."""
PAUSE_TIMES = 10.0
"""The pause between two evaluations, in multiples of how long the last one took, so that they take
a tenth of the event loop's time."""
PAUSE_MAX_S = 2.0
"""Seconds of the longest pause: a claim that somebody makes counts no later after it was seen."""


def pause_s(took_s: float) -> float:
    """Return for how long changes are gathered after an evaluation that took so many seconds."""
    return min(max(GATHER_S, PAUSE_TIMES * took_s), PAUSE_MAX_S)


class Devices:
    """The parts of the package in one term of leadership.

    `injects` says whether the API server adds claims to pods at their creation by now; `doubt` is
    called when a pod was created without its claims. In `namespace`, that of this installation, it
    is tried whether pods get claims.
    """

    def __init__(
        self,
        term: Term,
        pump: Pump,
        *,
        injects: Callable[[], bool],
        doubt: Callable[[], None],
        namespace: str,
    ) -> None:
        objects, writes, events = term.objects, term.writes, term.events
        self._pump, self._objects, self._queue = pump, objects, term.queues.claims
        self._features, self._present = term.queues.features, False
        self._memory = memory = objects.devices
        memory.on_nodes.workload_of = self._workload_of
        self._rules_changed, self._hardware_changed = True, False
        self._users: dict[str, None] = {}
        """Namespaces in which users' templates or claims changed since the last `refresh`."""
        self._due, self._needed = asyncio.Event(), asyncio.Event()
        self._domains_needed = asyncio.Event()
        self._intake = DeviceIntake(
            memory,
            Callbacks(
                rules=self._hear_of_rules,
                hardware=self._hear_of_hardware,
                users=self._hear_of_users,
                ours=self._hear_of_ours,
                free=self._due.set,
            ),
        )
        claims = Claims(memory, writes)
        self.start = DeviceStart(memory, claims, events, injects)
        self.template_cleanup = TemplateCleanup(memory, writes, term.deferral.pressure, self._queue)
        self.upkeep = Upkeep(
            objects=objects,
            memory=memory,
            start=self.start,
            claims=claims,
            events=events,
            evictions=DeviceEvictions(term=term, memory=memory),
            template_cleanup=self.template_cleanup,
            workload_of=self._workload_of,
        )
        trial = partial(tried, writes.client, namespace)
        self._delays = Delays(
            term=term,
            memory=memory,
            pod_replacement=PodReplacement(writes, trial, doubt),
            injects=injects,
        )
        self._flavor_conditions = FlavorConditions(memory, writes, term.clock.now, objects.flavors)

    async def follow(self, group: asyncio.TaskGroup, client: Client) -> None:
        """Start the reflectors; return when rules and, where needed, devices are listed.

        Devices are needed where there are rules, and where claims are left that were made by rules
        now deleted: these still hold quota. Elsewhere they are watched once a rule is created.
        """
        intake = self._intake
        made: list[Reflector[Any]] = [
            Reflector(
                client, resources.DEVICE_FLAVORS.within(), wire.DeviceFlavor, intake.on_flavor
            ),
            Reflector(client, resources.DEVICE_CLASSES.within(), wire.DeviceClass, intake.on_class),
        ]
        await _started(group, made)
        self.refresh()
        group.create_task(self._follow_domains(client), name="ComputeDomains")
        group.create_task(self.start.call_postponed(self._attend), name="starts that wait")
        if self._memory.catalog.is_empty and not await leftovers(client):
            group.create_task(self._follow_when_needed(group, client), name="devices to come")
        else:
            await self._follow_hardware(group, client)

    async def run(self) -> NoReturn:
        """Evaluate rules and devices again soon after they changed, for ever."""
        took_s = 0.0
        while True:
            written = await self._flavor_conditions.write()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(None if written else RETRY_S):
                    await self._due.wait()
            await asyncio.sleep(pause_s(took_s))
            began = perf_counter()
            self.refresh()
            took_s = perf_counter() - began

    def refresh(self) -> None:
        """Evaluate what changed, and pass flavors and Workloads that depend on it to the engine."""
        self._due.clear()
        rules = self._rules_changed and self._memory.join_rules()
        if self._hardware_changed:
            self._memory.join_hardware()
        if not self._memory.catalog.is_empty:
            self._enter()
        flavors = self._objects.flavors.values()
        begins = self._count_on_nodes(needed=any(one.spec.topology_name for one in flavors))
        if rules or begins or self._hardware_changed:
            self._pump.devices_changed(rules=rules)
            for uid in list(self._memory.holdings.unreckoned):
                self._hear_of_ours(uid)
        self._rules_changed = self._hardware_changed = False
        users, self._users = self._users, {}
        for namespace in users:
            self._judge_users(namespace)
        catalog = self._memory.catalog
        if not catalog.is_empty:
            self._needed.set()
        if any(one.compute_domain is not None for one in catalog.served.values()):
            self._domains_needed.set()

    def _count_on_nodes(self, *, needed: bool) -> bool:
        """Pass on which devices of nodes are free, if that is needed; True if rules are new."""
        on_nodes = self._memory.on_nodes
        begins = on_nodes.set_rules(self._memory.catalog, needed=needed)
        for fact in on_nodes.changes():
            self._pump.observe(fact)
        return begins

    def synced(self) -> None:
        """Pass on what is known of devices, before the first decision.

        Called when a term has listed all objects. Takes part where users' own claims are admitted
        though there is no rule about devices: without rules, none is admitted from then on, unless
        claims are not counted at all.
        """
        self.refresh()
        ignored = self._memory.catalog.gates.claims is OwnClaims.IGNORED
        if ignored or any(map(claims_by_itself, self._objects.workloads.values())):
            self._enter()

    def _enter(self) -> None:
        """Have this package take part in what happens to Workloads from now on."""
        if self._present:
            return
        self._present, features = True, self._features
        features.workload_changed.append(self.workload_changed)
        features.facts.append(self._charged)
        features.starts.append(self.start.prepare)
        features.holds.append(self.start.holds)
        for key in self._objects.workloads:
            self.workload_changed(key)

    def _charged(
        self, workload: Workload, fact: WorkloadFact, around: Surroundings
    ) -> WorkloadFact:
        """Return a Workload's fact with what it is charged for the devices that it was given."""
        given = self._memory.charges_of(workload, around.devices)
        return replace(fact, given=given) if given else fact

    def on_resource_flavor(self, event: WatchEvent[ResourceFlavor]) -> None:
        """Have the conditions of DeviceFlavors written, which tell of missing ResourceFlavors.

        Called before a flavor is passed on: if it has a topology, devices are counted on nodes by
        then.
        """
        match event:
            case Synced():
                return
            case Added(object=found) | Modified(object=found) if found.spec.topology_name:
                if self._count_on_nodes(needed=True):
                    self._hardware_changed = True
            case _:
                pass
        self._due.set()

    def workload_changed(self, key: Key) -> None:
        """Ask for the templates and claims of a Workload to be reconciled; it may be deleted."""
        found = self._objects.workloads.get(key)
        uids = (found.metadata.uid,) if found is not None else self._memory.uids_named(key)
        bound = found is not None and claims_by_itself(found)
        for uid in uids:
            if bound or self._memory.has_any(uid):
                self._queue.add(Key(uid))
            if self._memory.on_nodes.judge(uid):
                self._due.set()

    def workers(self) -> Iterator[Workers]:
        """Yield the workers; their keys are uids of Workloads."""
        yield Workers("claims", self._queue, self.look, WORKERS)

    async def look(self, uid: Key) -> None:
        """Reconcile the templates and claims of a Workload, and tell why its pods wait for devices.

        Raises KubeError to be called again later.
        """
        await self.upkeep.look(uid)
        found = self._workload_of(uid)
        if found is None:
            self._delays.forget(uid)
            return
        again_s = await self._delays.look(found)
        if again_s is not None:
            self._queue.add_after(uid, again_s)

    async def _follow_when_needed(self, group: asyncio.TaskGroup, client: Client) -> None:
        await self._needed.wait()
        await self._follow_hardware(group, client)

    async def _follow_domains(self, client: Client) -> None:
        """Watch ComputeDomains once a rule needs them: few clusters have this kind."""
        await self._domains_needed.wait()
        target, ours = (
            resources.COMPUTE_DOMAINS.within(),
            ReflectorSettings(label_selector=WORKLOAD_UID),
        )
        await Reflector(client, target, wire.ComputeDomain, self._intake.on_domain, ours).run()

    async def _follow_hardware(self, group: asyncio.TaskGroup, client: Client) -> None:
        self._enter()
        await _started(group, list(self._hardware(client)))
        self._hear_of_hardware()
        self.refresh()

    def _hardware(self, client: Client) -> Iterator[Reflector[Any]]:
        intake = self._intake
        for resource, kind, on_event in (
            (resources.NODES, wire.Node, intake.on_node),
            (resources.RESOURCE_SLICES, wire.ResourceSlice, intake.on_slice),
            (
                resources.RESOURCE_CLAIM_TEMPLATES,
                wire.ResourceClaimTemplate,
                intake.on_template,
            ),
            (resources.RESOURCE_CLAIMS, wire.ResourceClaim, intake.on_claim),
        ):
            made: Reflector[Any] = Reflector(client, resource.within(), kind, on_event)
            yield made
        ours = ReflectorSettings(label_selector=WORKLOAD_UID)
        yield Reflector(client, resources.PODS.within(), wire.Pod, intake.on_pod, ours)

    def _hear_of_rules(self) -> None:
        self._rules_changed = True
        self._due.set()

    def _hear_of_hardware(self) -> None:
        self._hardware_changed = True
        self._due.set()

    def _hear_of_users(self, namespace: str) -> None:
        self._pump.forget_users_devices(namespace)
        self._users[namespace] = None
        self._due.set()

    def _judge_users(self, namespace: str) -> None:
        """Evaluate a namespace once, however many of its users' templates and claims changed."""
        self._pump.users_devices_changed(namespace)
        for key in self._objects.workloads_by_namespace[namespace]:
            found = self._objects.workloads[key]
            if found.status.admission is not None and claims_by_itself(found):
                self._queue.add(Key(found.metadata.uid))

    def _hear_of_ours(self, uid: str) -> None:
        self._queue.add(Key(uid))
        found = self._workload_of(uid)
        if found is not None:
            self._pump.claims_changed(found)
            self._pump.attend(found)

    def _attend(self, uid: str) -> None:
        found = self._workload_of(uid)
        if found is not None:
            self._pump.attend(found)

    def _workload_of(self, uid: str) -> Workload | None:
        key = self._objects.workload_keys.get(uid)
        return None if key is None else self._objects.workloads.get(key)


def claims_by_itself(workload: Workload) -> bool:
    """Say whether the user wrote claims into a pod template of a Workload."""
    return any(one.template.spec.resource_claims for one in workload.spec.pod_sets)


async def _started(group: asyncio.TaskGroup, made: list[Reflector[Any]]) -> None:
    for reflector in made:
        group.create_task(reflector.run(), name="reflector of devices")
    for reflector in made:
        await reflector.until_known()


async def leftovers(client: Client) -> bool:
    """Say whether there may be a template or claim that was made by rules which are deleted by now.

    The last DeviceFlavor may be deleted while Workloads with its claims run. A new leader must then
    watch claims nevertheless: quota is released only when none of a Workload's is allocated any
    more. True when it cannot be found out, since a needless watch costs little.
    """
    for resource in (resources.RESOURCE_CLAIMS, resources.RESOURCE_CLAIM_TEMPLATES):
        if await _has_any(client, resource):
            return True
    return False


async def _has_any(client: Client, resource: resources.Resource) -> bool:
    try:
        page = decode_page(await client.list_page(resource.within(), _ONE))
    except (NotFoundError, ForbiddenError):
        return False  # no such kind, or none that we could watch
    except (KubeError, msgspec.DecodeError):
        return True
    return bool(page.items or page.metadata.continue_token)
