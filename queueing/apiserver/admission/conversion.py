"""Objects of a custom kind in another of its versions."""

import base64
import ssl
import uuid
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import msgspec

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.rules.events import renamed
from queueing.apiserver.tree import Object, dig

_TIMEOUT_SECONDS = 30


def client_url(client: Object, resolve: dict[str, str]) -> str:
    """Return where a webhook is called: its url, or what a service name resolves to."""
    if client.get("url"):
        return str(client["url"])
    service = client.get("service") or {}
    key = f"{service.get('namespace')}/{service.get('name')}"
    base = resolve.get(key)
    if base is None:
        raise ApiFailure(500, "InternalError", f'service "{service.get("name")}" not found')
    return f"{base}{service.get('path', '/')}"


def trust_of(client: Object) -> ssl.SSLContext | bool:
    """Return the TLS trust that a client configuration asks for."""
    bundle = client.get("caBundle")
    if not bundle:
        return True
    return ssl.create_default_context(cadata=base64.b64decode(bundle).decode())


@dataclass(slots=True)
class Converter:
    """Converts by changing `apiVersion` only, or by asking the kind's webhook."""

    session: aiohttp.ClientSession
    services: dict[str, str] = field(default_factory=dict)

    async def converted(
        self, resource: Resource, objects: list[Object], version: str
    ) -> list[Object]:
        """Return the objects in `version`, in their order; those already in it as they are."""
        wanted = resource.api_version(version)
        if resource.key == "events":
            return [renamed(obj, wanted) for obj in objects]
        if len(resource.versions) == 1 or all(obj.get("apiVersion") == wanted for obj in objects):
            return objects
        if resource.conversion.get("strategy") != "Webhook":
            return [
                obj if obj.get("apiVersion") == wanted else {**obj, "apiVersion": wanted}
                for obj in objects
            ]
        return await self._ask(resource, objects, wanted)

    async def _ask(self, resource: Resource, objects: list[Object], wanted: str) -> list[Object]:
        places = [index for index, obj in enumerate(objects) if obj.get("apiVersion") != wanted]
        request = {
            "uid": str(uuid.uuid4()),
            "desiredAPIVersion": wanted,
            "objects": [objects[index] for index in places],
        }
        review = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": request,
        }
        answer = await self._post(resource, review)
        result = dig(answer, "response", "result", "status")
        made = dig(answer, "response", "convertedObjects", default=[])
        if result != "Success" or len(made) != len(places):
            reason = dig(answer, "response", "result", "message", default="wrong number of objects")
            raise _failed(resource, wanted, str(reason))
        converted = list(objects)
        for index, obj in zip(places, made, strict=True):
            converted[index] = obj
        return converted

    async def _post(self, resource: Resource, review: Object) -> Any:
        client = dig(resource.conversion, "webhook", "clientConfig", default={})
        try:
            async with self.session.post(
                client_url(client, self.services),
                data=msgspec.json.encode(review),
                headers={"Content-Type": "application/json"},
                ssl=trust_of(client),
                timeout=aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS),
            ) as response:
                return msgspec.json.decode(await response.read())
        except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError) as error:
            raise _failed(resource, resource.storage, str(error)) from error


def _failed(resource: Resource, version: str, why: str) -> ApiFailure:
    message = (
        f"conversion webhook for {resource.group}, Kind={resource.kind} to {version} failed: {why}"
    )
    return ApiFailure(500, "InternalError", message)
