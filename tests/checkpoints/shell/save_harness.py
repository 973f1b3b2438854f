"""Workloads that save: a world with a policy, and what stands for the pods' own code."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from queueing.kube import resources
from queueing.kube.errors import ConflictError, NotFoundError
from tests.controller.harness import (
    FLAVOR,
    LOCAL_QUEUE,
    Wire,
    World,
    cluster_queue,
    job,
)
from tests.news import soon_after

REQUEST = "queueing.dev/checkpoint-request"
ANSWER = "queueing.dev/checkpoint-answer"
POLICY = "queueing.dev/checkpoint-policy"
PREEMPTS = {"withinClusterQueue": "LowerPriority"}


def policy(name: str = "save", **spec: Any) -> Wire:
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CheckpointPolicy",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"driver": "Annotation", **spec},
    }


def priority(name: str, value: int) -> Wire:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def objects(**spec: Any) -> tuple[Wire, ...]:
    """Return a queue of 2 cpu in which the urgent preempt, and a policy."""
    return (
        FLAVOR,
        cluster_queue(preemption=PREEMPTS),
        LOCAL_QUEUE,
        priority("urgent", 100),
        policy(**spec),
    )


def saving(name: str = "train", cpu: str = "2", **more: Any) -> Wire:
    made = job(name, cpu=cpu, **more)
    made["metadata"]["annotations"][POLICY] = "save"
    return made


def urgent(name: str = "urgent", cpu: str = "2", **more: Any) -> Wire:
    return job(name, cpu=cpu, labels={"kueue.x-k8s.io/priority-class": "urgent"}, **more)


Reply = Callable[[Wire, Wire], Wire | None]
"""From a pod and what it is asked to what it answers."""


def says(answer: Wire) -> Reply:
    """Return the reply of a pod that says always the same."""

    def reply(pod: Wire, asked: Wire) -> Wire:
        return answer

    return reply


class Pods:
    """Plays the code that runs in the pods: answers each request as `reply` says."""

    def __init__(self, world: World, reply: Reply, *, every_s: float = 0.0) -> None:
        self.world, self.reply, self.every_s = world, reply, every_s
        self.asked: list[Wire] = []

    async def run(self) -> None:
        while True:
            news = self.world.news.next
            for pod in await self.world.list("Pod"):
                await self._look(pod)
            await soon_after(news)
            await asyncio.sleep(self.every_s)

    async def _look(self, pod: Wire) -> None:
        notes = pod["metadata"].get("annotations", {})
        text = notes.get(REQUEST)
        if text is None or pod["metadata"].get("deletionTimestamp"):
            return
        asked = msgspec.json.decode(text)
        if asked not in self.asked:
            self.asked.append(asked)
        said = self.reply(pod, asked)
        if said is None or asked.get("cancelled"):
            return
        full = {"requestID": asked["requestID"], "epoch": asked["epoch"], **said}
        answer = msgspec.json.encode(full).decode()
        if notes.get(ANSWER) == answer:
            return
        body = {"metadata": {"annotations": {ANSWER: answer}}}
        target = resources.PODS.at(pod["metadata"]["name"], "team")
        try:
            await self.world.client.patch_merge(target, body)
        except (NotFoundError, ConflictError):
            return


def phase(*wanted: str) -> Callable[[Wire], bool]:
    return lambda one: one.get("status", {}).get("phase", "Selected") in wanted


async def checkpoint(world: World, holds: Callable[[Wire], bool]) -> Wire:
    """Wait for the only Checkpoint, in some state."""
    last: list[Wire] = []

    async def look() -> Wire | None:
        nonlocal last
        last = await world.list("Checkpoint")
        return last[-1] if last and holds(last[-1]) else None

    found = await world.found(look)
    assert found is not None, f"Checkpoints stayed {last}"
    return found


async def reasons(world: World, name: str) -> set[str]:
    """Return the reasons of all events about objects of a name."""
    found = await world.list("Event")
    return {one["reason"] for one in found if one["regarding"]["name"] == name}


async def told(world: World, name: str, *wanted: str) -> None:
    """Wait until events of these reasons are there: they come after what they tell of."""

    async def look() -> bool | None:
        return True if await reasons(world, name) >= set(wanted) else None

    assert await world.found(look), f"not all of {wanted} in {await reasons(world, name)}"
