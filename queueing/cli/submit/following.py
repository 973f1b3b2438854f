"""Tells how a submitted object goes on, until its Workload is finished."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from queueing.cli.get.states import State, condition, state_of, why
from queueing.cli.subjects import was_replaced
from queueing.kube.client import Client
from queueing.kube.errors import KubeError, RefusedError
from queueing.kube.listing import list_all
from queueing.kube.request import Request
from queueing.kube.resources import PODS, WORKLOADS
from queueing.translate import labels

LOOK_S = 0.5
LINE = re.compile(r"^(\S+) ?(.*)$")
Wire = Mapping[str, Any]
Tell = Callable[[str], None]


@dataclass(slots=True)
class Following:
    """What was told of one object so far."""

    client: Client
    value: Wire
    """The object as the server has it."""
    tell: Tell
    _told: str = ""
    _read_up_to: dict[str, str] = field(default_factory=dict)
    """Pod → the timestamp of the last line of its log that was told."""

    async def to_the_end(self) -> bool:
        """Tell states, reasons and logs; return whether it succeeded once it is finished.

        One that is deleted meanwhile has not.
        """
        seen = False
        while True:
            workload = await self._workload()
            if workload is None and seen:
                self.tell("it was deleted")
                return False
            if workload is not None:
                seen = True
                self._tell_state(workload)
                if state_of(workload) is not State.PENDING:
                    await self._tell_logs()
                if state_of(workload) is State.FINISHED:
                    return condition(workload, "Finished").get("reason") == "Succeeded"
            await asyncio.sleep(LOOK_S)

    async def _workload(self) -> Wire | None:
        metadata = self.value["metadata"]
        target = WORKLOADS.within(metadata["namespace"])
        for one in await list_all(self.client, target, dict[str, Any]):
            owners = one["metadata"].get("ownerReferences") or ()
            mine = any(each["uid"] == metadata["uid"] for each in owners)
            if mine and not was_replaced(one):
                return one
        return None

    def _tell_state(self, workload: Wire) -> None:
        state = state_of(workload)
        reason, message = why(workload)
        queue = ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", "")
        told = {
            State.PENDING: f"waits: {reason}: {message}" if reason else "waits",
            State.RESERVED: f"has quota of {queue}, admission checks are open",
            State.ADMITTED: f"is admitted by {queue}",
            State.EVICTED: f"is evicted: {message}",
            State.FINISHED: f"is finished: {message or reason}",
        }[state]
        if told != self._told:
            self._told = told
            self.tell(told)

    async def _tell_logs(self) -> None:
        """Tell the lines that the pods of a Job wrote since the last time."""
        metadata = self.value["metadata"]
        chosen = f"{labels.POD_JOB_UID}={metadata['uid']}"
        pods = await list_all(
            self.client, PODS.within(metadata["namespace"]), dict[str, Any], label_selector=chosen
        )
        for pod in sorted(pods, key=lambda one: str(one["metadata"]["name"])):
            if (pod.get("status") or {}).get("phase") in {"Running", "Succeeded", "Failed"}:
                await self._tell_log(pod)

    async def _tell_log(self, pod: Wire) -> None:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        since = self._read_up_to.get(name, "")
        query = {"timestamps": "true"} | ({"sinceTime": since} if since else {})
        target = PODS.at(name, namespace, "log")
        try:
            body = await self.client.send(Request("GET", target.path, query))
        except RefusedError:
            return  # it has not started, or its node keeps no logs
        except KubeError as error:
            self.tell(f"(the log of {name} cannot be read: {error})")
            return
        for line in body.decode(errors="replace").splitlines():
            found = LINE.match(line)
            if found is None or found[1] <= since:
                continue
            self._read_up_to[name] = found[1]
            self.tell(f"{name} | {found[2]}")
