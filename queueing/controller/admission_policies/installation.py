"""Puts the admission policies in force: applied where the server has them, and tried.

Since Kubernetes 1.36 the API server itself suspends managed Jobs as our rules say, without asking
anybody; that it refuses what they refuse is older. Where it cannot, webhooks are asked, or Jobs are
stopped when they are seen.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import msgspec

from queueing.controller.admission_policies import job_webhooks
from queueing.controller.admission_policies.injection import BLIND_S, until_injected
from queueing.controller.admission_policies.rendering import (
    MINOR_MIN,
    MUTATING,
    OPTIONAL,
    PROBE_LABEL,
    VALIDATING,
    PolicyRules,
    Rendered,
    Wire,
    digest_of,
    render,
    render_validation,
    scope_of,
)
from queueing.controller.admission_policies.unchanged import is_unchanged
from queueing.kube.client import Call, Client, Request
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.request import SETUP_TIMEOUT_S
from queueing.kube.resources import CUSTOM_RESOURCE_DEFINITIONS, JOBS, Resource

logger = logging.getLogger(__name__)

MINOR_OF_VALIDATION = 30
"""Since which Kubernetes 1.x servers have validating policies."""
RETRY_S = 1.0

There = dict[tuple[Resource, str], Wire]
"""What the server has, by kind and name."""
_OWNER = CUSTOM_RESOURCE_DEFINITIONS.at("workloads.kueue.x-k8s.io")


async def minor_version(client: Client) -> int:
    """Return which Kubernetes 1.x the server serves the APIs of; 0 when it is none.

    A server may be told to serve those of an older version than its own.
    """
    version = msgspec.json.decode(await client.send(Request("GET", "/version")))
    told = str(version.get("emulationMinor") or version.get("minor") or "")
    minor = "".join(one for one in told if one.isdecimal())
    if "embedded" in str(version.get("platform", "")) or version.get("major") != "1":
        return 0
    return int(minor or 0)


def _deaf() -> None:
    """Hear nothing."""


async def install(
    client: Client,
    rules: PolicyRules,
    in_force: Callable[[], None],
    injecting: Callable[[], None] = _deaf,
) -> None:
    """Apply the policies, and tell when the server goes by them; ends then.

    `injecting` is told last, when pods were seen to get their claims. Readiness must not wait for
    that: before 1.36 a webhook gives them, and is asked only when its pod is ready.
    """
    told, minor = "", 0
    while True:
        try:
            minor = await minor_version(client)
            await _put_in_force(client, rules, minor)
            break
        except KubeError as error:
            if str(error) != told:
                told = str(error)
                logger.warning("the policies could not be applied, trying again: %s", told)
            await asyncio.sleep(RETRY_S)
    in_force()
    if minor:
        await until_injected(client, rules.namespace)
    injecting()


async def _put_in_force(client: Client, rules: PolicyRules, minor: int) -> None:
    """Apply what a server of this version takes, and wait until it goes by that."""
    mutating, there = render(rules), There()
    if minor >= MINOR_OF_VALIDATION:
        validating = render_validation(rules)
        there = await _read(client, mutating=minor >= MINOR_MIN)
        await _apply(client, validating, there)
        await _withdraw(client, [*validating, *mutating], there)
    if minor < MINOR_MIN:
        asked = minor > 0 and await job_webhooks.follow(client, scope_of(rules, minor))
        instead = "webhooks suspend Jobs" if asked else "Jobs are stopped when seen"
        logger.info("the API server has no mutating policies; %s", instead)
        return
    await _apply(client, mutating, there)
    await _answered(client, rules.namespace, digest_of(mutating))
    # Only now: a pod that neither a webhook nor a policy rewrites would stay gated.
    await job_webhooks.follow(client, scope_of(rules, minor))
    logger.info("the API server suspends managed Jobs at creation")


async def _read(client: Client, *, mutating: bool) -> There:
    """Read all policies and bindings of the kinds that the server has."""
    kinds = [*VALIDATING.values(), *(MUTATING.values() if mutating else ())]
    return {
        (kind, str(one["metadata"]["name"])): one
        for kind in kinds
        for one in await list_all(client, kind.within(), Wire)
    }


async def _apply(client: Client, rendered: Rendered, there: There) -> None:
    """Write what is not there as it is rendered, or was edited by hand or by another version."""
    owner = msgspec.json.decode(await client.get(_OWNER))["metadata"]
    reference = {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITIONS.kind,
        "name": owner["name"],
        "uid": owner["uid"],
    }
    for resource, wire in rendered:
        owned = {**wire["metadata"], "ownerReferences": [reference]}
        wanted = {**wire, "metadata": owned}
        if not is_unchanged(there.get((resource, owned["name"])), wanted):
            call = Call(force=True, timeout_s=SETUP_TIMEOUT_S)
            await client.apply(resource.at(owned["name"]), wanted, call)


async def _withdraw(client: Client, rendered: Rendered, there: There) -> None:
    """Delete what an earlier Configuration asked for and this one does not."""
    kept = {wire["metadata"]["name"] for _, wire in rendered}
    for name, kinds in OPTIONAL.items():
        for resource in kinds:
            if name not in kept and (resource, name) in there:
                with suppress(NotFoundError):
                    await client.delete(resource.at(name))


async def _answered(client: Client, namespace: str, digest: str) -> None:
    """Try dry runs until one comes back marked with the digest."""
    call = Call(dry_run=True, timeout_s=SETUP_TIMEOUT_S)
    while True:
        try:
            reply = await client.create(JOBS.within(namespace), _trial(), call)
        except (ForbiddenError, NotFoundError) as error:
            logger.warning("the policies cannot be tried, only waited for: %s", error)
            await asyncio.sleep(BLIND_S)
            return
        annotations = msgspec.json.decode(reply)["metadata"].get("annotations") or {}
        if annotations.get(PROBE_LABEL) == digest:
            return
        await asyncio.sleep(RETRY_S)


def _trial() -> Wire:
    container = {"name": "probe", "image": "probe"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "queueing-policy-probe-", "labels": {PROBE_LABEL: "try"}},
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
