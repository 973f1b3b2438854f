"""Keep the certificate where all replicas find it, and the API server trusting its CA.

The Secret is the one truth: the replica that finds it missing or due writes a new one, and a
conflict means that another replica was first. One that cert-manager writes is used as it is. What
trusts the CA (webhook configurations, CRD conversion, APIServices) is compared with it and mended,
so deleting any of it heals within a turn.
"""

import asyncio
import base64
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from queueing.kube.client import Client
from queueing.kube.errors import AlreadyExistsError, ConflictError, KubeError, NotFoundError
from queueing.kube.objects import Identified
from queueing.kube.resources import (
    API_SERVICES,
    CUSTOM_RESOURCE_DEFINITIONS,
    MUTATING_WEBHOOKS,
    SECRETS,
    VALIDATING_WEBHOOKS,
    Target,
)
from queueing.serving import explanations
from queueing.serving.certificates import Certificates, first_certificate, is_usable, make

logger = logging.getLogger(__name__)

TURN_S = 10.0
KEPT_BY_CERT_MANAGER = "cert-manager.io/certificate-name"
CA, CERTIFICATE, KEY = "ca.crt", "tls.crt", "tls.key"
WEBHOOK_CONFIGURATIONS = (
    MUTATING_WEBHOOKS.at("kueue-mutating-webhook-configuration"),
    VALIDATING_WEBHOOKS.at("kueue-validating-webhook-configuration"),
)
GROUP = "kueue.x-k8s.io"
PLURALS = (
    "admissionchecks",
    "clusterqueues",
    "cohorts",
    "localqueues",
    "multikueueclusters",
    "multikueueconfigs",
    "provisioningrequestconfigs",
    "resourceflavors",
    "topologies",
    "workloadpriorityclasses",
    "workloads",
)
CONVERTED = tuple(CUSTOM_RESOURCE_DEFINITIONS.at(f"{plural}.{GROUP}") for plural in PLURALS)
AGGREGATED = (
    *(API_SERVICES.at(f"{version}.visibility.{GROUP}") for version in ("v1beta1", "v1beta2")),
    API_SERVICES.at(f"{explanations.VERSION}.{explanations.GROUP}"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Where the Secret is, and for which DNS names the certificate must hold."""

    namespace: str
    secret: str
    names: Sequence[str]


async def keep(
    client: Client,
    keeping: Keeping,
    now: Callable[[], float],
    use: Callable[[Certificates], None],
) -> None:
    """Turn for ever: have a usable certificate, serve it, and have its CA trusted."""
    served: Certificates | None = None
    trust = Trust(client)
    told = ""
    while True:
        try:
            held = await current(client, keeping, now())
            await trust.spread(held.ca)
            if held != served:
                use(held)
                served = held
            told = ""
        except KubeError as error:
            if str(error) != told:
                told = str(error)
                logger.warning("the certificate could not be checked, trying again: %s", told)
        await asyncio.sleep(TURN_S)


async def current(client: Client, keeping: Keeping, now: float) -> Certificates:
    """Return the certificate of the Secret, made anew when missing, broken or due."""
    target = SECRETS.at(keeping.secret, keeping.namespace)
    for _attempt in range(5):
        try:
            secret = msgspec.json.decode(await client.get(target))
        except NotFoundError:
            secret = None
        held = _read(secret)
        if _is_kept_by_others(secret):
            return _theirs(target, held)
        if held is not None and is_usable(held, keeping.names, now):
            return held
        made = _beside(make(keeping.names, now), held)
        try:
            await _store(client, target, made, secret)
        except (AlreadyExistsError, ConflictError):
            continue
        return made
    raise ConflictError(f"{target.label} is changed faster than it can be read")


def _is_kept_by_others(secret: dict[str, Any] | None) -> bool:
    """Say whether cert-manager writes the Secret: two who renew it would never come to an end."""
    annotations = ((secret or {}).get("metadata") or {}).get("annotations") or {}
    return KEPT_BY_CERT_MANAGER in annotations


def _theirs(target: Target, held: Certificates | None) -> Certificates:
    """Return a certificate that others renew; raises ConflictError until there is one."""
    if held is None or not (held.certificate and held.key):
        raise ConflictError(f"{target.label} is cert-manager's, and holds no certificate yet")
    return held


def _beside(made: Certificates, held: Certificates | None) -> Certificates:
    """Keep the previous CA trusted: another replica serves its old certificate for a turn more."""
    previous = first_certificate(held.ca) if held is not None else b""
    return replace(made, ca=made.ca + previous)


def _read(secret: dict[str, Any] | None) -> Certificates | None:
    data = (secret or {}).get("data") or {}
    try:
        ca, certificate, key = (
            base64.b64decode(data.get(name, ""), validate=True) for name in (CA, CERTIFICATE, KEY)
        )
    except ValueError:
        return None
    return Certificates(ca=ca, certificate=certificate, key=key)


async def _store(
    client: Client, target: Target, made: Certificates, secret: dict[str, Any] | None
) -> None:
    parts = {CA: made.ca, CERTIFICATE: made.certificate, KEY: made.key}
    data = {name: base64.b64encode(part).decode() for name, part in parts.items()}
    if secret is None:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": target.name, "namespace": target.namespace},
            "type": "kubernetes.io/tls",
            "data": data,
        }
        await client.create(SECRETS.within(target.namespace), body)
        return
    version = secret["metadata"]["resourceVersion"]
    await client.patch_merge(target, {"metadata": {"resourceVersion": version}, "data": data})


@dataclass(slots=True)
class Trust:
    """Puts a CA into everything that calls us; what does not exist is not made.

    What was not written since it was found to trust the CA is not read again: all definitions
    together are large, and every replica looks every few seconds.
    """

    client: Client
    _ca: bytes = b""
    _trusting: dict[Target, str] = field(default_factory=dict)
    """The version of each that trusts the CA."""

    async def spread(self, ca: bytes) -> None:
        """Have everything trust the CA that does not."""
        if ca != self._ca:
            self._ca, self._trusting = ca, {}
        bundle = base64.b64encode(ca).decode()
        for target in WEBHOOK_CONFIGURATIONS:
            await self._mend(target, lambda found: _webhooks_patch(found, bundle))
        for target in CONVERTED:
            await self._mend(target, lambda found: _conversion_patch(found, bundle))
        for target in AGGREGATED:
            await self._mend(target, lambda found: _service_patch(found, bundle))

    async def _mend(
        self, target: Target, patch_of: Callable[[dict[str, Any]], list[dict[str, Any]]]
    ) -> None:
        try:
            seen = msgspec.json.decode(await self.client.get_metadata(target), type=Identified)
            if self._trusting.get(target) == seen.metadata.resource_version:
                return
            found = msgspec.json.decode(await self.client.get(target))
            version = found["metadata"]["resourceVersion"]
            patch = patch_of(found)
            if patch:
                test = {"op": "test", "path": "/metadata/resourceVersion", "value": version}
                await self.client.patch_json(target, [test, *patch])
                logger.info("%s trusts the serving certificate now", target.label)
            else:
                self._trusting[target] = version
        except NotFoundError:
            return


def _webhooks_patch(found: dict[str, Any], bundle: str) -> list[dict[str, Any]]:
    return [
        {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
        for index, webhook in enumerate(found.get("webhooks") or ())
        if webhook.get("clientConfig", {}).get("caBundle") != bundle
    ]


def _conversion_patch(found: dict[str, Any], bundle: str) -> list[dict[str, Any]]:
    webhook = found["spec"].get("conversion", {}).get("webhook")
    if webhook is None or webhook.get("clientConfig", {}).get("caBundle") == bundle:
        return []
    path = "/spec/conversion/webhook/clientConfig/caBundle"
    return [{"op": "add", "path": path, "value": bundle}]


def _service_patch(found: dict[str, Any], bundle: str) -> list[dict[str, Any]]:
    spec = found["spec"]
    if spec.get("service") is None or spec.get("caBundle") == bundle:
        return []
    patch = [{"op": "add", "path": "/spec/caBundle", "value": bundle}]
    if spec.get("insecureSkipTLSVerify"):
        patch.append({"op": "remove", "path": "/spec/insecureSkipTLSVerify"})
    return patch
