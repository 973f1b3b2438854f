"""Tries whether the API server adds claims to pods now: by a pod that is created as a dry run.

Whether a policy or a webhook adds them does not matter. A policy takes effect some seconds after it
was created or deleted, and a webhook works only while its server answers.
"""

import asyncio
import logging
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from queueing.devices.wire import names
from queueing.kube.client import Call, Client
from queueing.kube.errors import ForbiddenError, InvalidError, KubeError, NotFoundError
from queueing.kube.request import SETUP_TIMEOUT_S
from queueing.kube.resources import PODS
from queueing.webhooks.pods import CLAIM

logger = logging.getLogger(__name__)

Wire = dict[str, Any]

RETRY_S = 1.0
"""Seconds between two trials."""
BLIND_S = 15.0
"""Seconds to wait where a trial is not permitted; a policy takes effect within 8 s."""
_RESOURCE = "queueing.dev/trial"


class Injecting(StrEnum):
    """The result of a trial."""

    WORKS = "Works"
    FAILS = "Fails"
    UNKNOWN = "Unknown"
    """The API server does not let us create the pod, not even as a dry run."""


class Trial(NamedTuple):
    """The result of a trial and, unless it works, the reason."""

    result: Injecting
    why: str = ""


async def tried(client: Client, namespace: str) -> Trial:
    """Try whether a pod of a namespace would get its claim, by a dry run."""
    try:
        call = Call(dry_run=True, timeout_s=SETUP_TIMEOUT_S)
        reply = await client.create(PODS.within(namespace), _trial(), call)
    except (ForbiddenError, NotFoundError, InvalidError) as error:
        return Trial(Injecting.UNKNOWN, str(error))
    except KubeError as error:
        return Trial(Injecting.FAILS, str(error))
    spec = msgspec.json.decode(reply)["spec"]
    claimed = any(one.get("name") == CLAIM for one in spec.get("resourceClaims") or ())
    gated = any(one.get("name") == names.GATE for one in spec.get("schedulingGates") or ())
    if claimed and not gated:
        return Trial(Injecting.WORKS)
    return Trial(Injecting.FAILS, "the pod of the trial was not changed")


async def until_injected(client: Client, namespace: str) -> None:
    """Wait until pods get their claims; where that cannot be tried, wait `BLIND_S`."""
    told = ""
    while True:
        result, why = await tried(client, namespace)
        if why != told:
            told = why
            logger.warning("pods do not get their claims yet, or it cannot be tried: %s", why)
        match result:
            case Injecting.WORKS:
                logger.info("a pod that was created for trial got its claim")
                return
            case Injecting.UNKNOWN:
                await asyncio.sleep(BLIND_S)
                return
            case Injecting.FAILS:
                await asyncio.sleep(RETRY_S)


def _trial() -> Wire:
    """Return a pod that should get a claim.

    It complies with the Pod Security Standard `restricted`, which its namespace may enforce.
    """
    container = {
        "name": "trial",
        "image": "trial",
        "resources": {"requests": {_RESOURCE: "1"}, "limits": {_RESOURCE: "1"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    notes = {names.INJECT_RESOURCE: _RESOURCE, names.INJECT_TEMPLATE: "trial"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "queueing-claims-trial-",
            "labels": {names.INJECT: "true"},
            "annotations": notes,
        },
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [container],
            "restartPolicy": "Never",
            "schedulingGates": [{"name": names.GATE}],
        },
    }
