"""Installs the admission policies that the API server supports, and waits until it uses them.

MutatingAdmissionPolicies (Kubernetes 1.36, https://kep.k8s.io/3962) suspend managed Jobs at
creation without a webhook. ValidatingAdmissionPolicies (1.30, https://kep.k8s.io/3488) refuse what
is invalid. On servers without the former, webhooks do that, or else Jobs are suspended when they
are seen running.
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
from queueing.kube.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    JOBS,
    MUTATING_POLICY_BINDINGS,
    VALIDATING_POLICY_BINDINGS,
    Resource,
)

logger = logging.getLogger(__name__)

MINOR_OF_VALIDATION = 30
"""The first Kubernetes 1.x with ValidatingAdmissionPolicies."""
RETRY_S = 1.0
"""Seconds between two attempts, and between two trials."""

There = dict[tuple[Resource, str], Wire]
"""Policies and bindings that the server has, by kind and name."""
BINDINGS = (VALIDATING_POLICY_BINDINGS, MUTATING_POLICY_BINDINGS)
_DEFINITION = CUSTOM_RESOURCE_DEFINITIONS.at("workloads.kueue.x-k8s.io")


async def minor_version(client: Client) -> int:
    """Return the minor version of Kubernetes 1.x whose APIs the server serves.

    That is older than its own where it emulates one (https://kep.k8s.io/4330). 0 for the embedded
    server, and for any that is not 1.x. Raises KubeError.
    """
    version = msgspec.json.decode(await client.send(Request("GET", "/version")))
    told = str(version.get("emulationMinor") or version.get("minor") or "")
    minor = "".join(one for one in told if one.isdecimal())
    if "embedded" in str(version.get("platform", "")) or version.get("major") != "1":
        return 0
    return int(minor or 0)


def _deaf() -> None:
    """Do nothing when called."""


async def install(
    client: Client,
    rules: PolicyRules,
    in_force: Callable[[], None],
    injecting: Callable[[], None] = _deaf,
) -> None:
    """Apply the policies, wait until the server uses them, and return. Repeats what fails.

    `in_force` is called when Jobs are suspended as the rules say, `injecting` when pods were seen
    to get their claims. These are two steps because readiness must not wait for the second: before
    1.36 our own webhook adds claims, and a webhook is called only when its pod is ready.
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
    """Apply what a server of this version supports, and wait until it uses that."""
    mutating, there = render(rules), There()
    owner = await _owner(client) if minor >= MINOR_OF_VALIDATION else {}
    if minor >= MINOR_OF_VALIDATION:
        validating = render_validation(rules)
        there = await _read(client, mutating=minor >= MINOR_MIN)
        await _apply(client, validating, there, owner)
        await _withdraw(client, [*validating, *mutating], there, owner)
    if minor < MINOR_MIN:
        asked = minor > 0 and await job_webhooks.follow(client, scope_of(rules, minor))
        instead = "webhooks suspend Jobs" if asked else "Jobs are stopped when seen"
        logger.info("the API server has no mutating policies; %s", instead)
        return
    await _apply(client, mutating, there, owner)
    await _answered(client, rules.namespace, digest_of(mutating))
    # Only after the policies work: a pod that neither they nor a webhook rewrites stays gated.
    await job_webhooks.follow(client, scope_of(rules, minor))
    logger.info("the API server suspends managed Jobs at creation")


async def _owner(client: Client) -> Wire:
    """Return a reference to the definition of Workloads, with which all policies go."""
    found = msgspec.json.decode(await client.get(_DEFINITION))["metadata"]
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITIONS.kind,
        "name": found["name"],
        "uid": found["uid"],
    }


async def _read(client: Client, *, mutating: bool) -> There:
    """Return all policies and bindings of the kinds that the server supports."""
    kinds = [*VALIDATING.values(), *(MUTATING.values() if mutating else ())]
    return {
        (kind, str(one["metadata"]["name"])): one
        for kind in kinds
        for one in await list_all(client, kind.within(), Wire)
    }


async def _apply(client: Client, rendered: Rendered, there: There, owner: Wire) -> None:
    """Apply the objects that are missing, or differ from what is rendered."""
    for resource, wire in rendered:
        owned = {**wire["metadata"], "ownerReferences": [owner]}
        wanted = {**wire, "metadata": owned}
        if not is_unchanged(there.get((resource, owned["name"])), wanted):
            call = Call(force=True, timeout_s=SETUP_TIMEOUT_S)
            await client.apply(resource.at(owned["name"]), wanted, call)


async def _withdraw(client: Client, rendered: Rendered, there: There, owner: Wire) -> None:
    """Delete policies that were applied here and are not rendered any more, bindings first."""
    kept = {wire["metadata"]["name"] for _, wire in rendered}
    gone = [
        key
        for key, one in there.items()
        if key[1] not in kept and owner in one["metadata"].get("ownerReferences", ())
    ]
    for resource, name in sorted(gone, key=lambda one: one[0] not in BINDINGS):
        with suppress(NotFoundError):
            await client.delete(resource.at(name))


async def _answered(client: Client, namespace: str, digest: str) -> None:
    """Create Jobs as dry runs until the probe policy marks one with the digest."""
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
