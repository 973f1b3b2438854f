"""Whether the API server gives pods their claims now: a pod is created for trial, and looked at.

Policy or webhook: what counts is what comes back. A policy works a few seconds after it was made or
taken away, and a webhook only while somebody answers.
"""

import asyncio
import logging
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from queueing.kube.client import Call, Client
from queueing.kube.errors import ForbiddenError, InvalidError, KubeError, NotFoundError
from queueing.kube.request import SETUP_TIMEOUT_S
from queueing.kube.resources import PODS
from queueing.translate.devices import names
from queueing.webhooks.pods import CLAIM

logger = logging.getLogger(__name__)

Wire = dict[str, Any]

RETRY_S = 1.0
BLIND_S = 15.0
"""How long a server is given that does not let us try; a policy is in force within 8 s."""
_RESOURCE = "queueing.dev/trial"


class Injecting(StrEnum):
    """What a trial tells."""

    WORKS = "Works"
    FAILS = "Fails"
    UNKNOWN = "Unknown"
    """We may not try."""


class Trial(NamedTuple):
    """What came of a trial, and why it did not come to more."""

    result: Injecting
    why: str = ""


async def tried(client: Client, namespace: str) -> Trial:
    """Try whether a pod of a namespace would get its claim; nothing is stored."""
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
    """Wait until pods get their claims; where that cannot be tried, as long as it may take."""
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
    """Return a pod that is to get a claim, and that a namespace of restricted pods takes."""
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
