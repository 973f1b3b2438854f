"""What every verb works with."""

from collections.abc import Callable
from dataclasses import dataclass

from queueing.apiserver.admission.conversion import Converter
from queueing.apiserver.admission.webhooks import WebhookAdmission
from queueing.apiserver.failures import no_such_path
from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import StoreWrites
from queueing.apiserver.resources.resource import Resource, ServedVersion
from queueing.apiserver.tree import Object
from queueing.apiserver.wire.call import HttpRequest, ResourcePath


@dataclass(slots=True, kw_only=True)
class Api:
    """The server's parts, handed to the verbs."""

    store: Store
    writes: StoreWrites
    admission: WebhookAdmission
    converter: Converter
    clock: Callable[[], float]
    bookmark_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRequest:
    """A call whose path names a kind that is served."""

    api: Api
    call: HttpRequest
    target: ResourcePath
    resource: Resource
    version: ServedVersion

    @property
    def namespace(self) -> str:
        return self.target.namespace

    @property
    def name(self) -> str:
        return self.target.name

    def current(self) -> Object:
        """Return the stored object that the path names; 404 when there is none."""
        return self.api.store.read(self.resource, self.namespace, self.name)

    async def shown(self, obj: Object) -> Object:
        """Return a stored object in the asked version."""
        return (await self.shown_all([obj]))[0]

    async def shown_all(self, objects: list[Object]) -> list[Object]:
        """Return stored objects in the asked version, in their order."""
        return await self.api.converter.converted(self.resource, objects, self.version.name)

    def listed(self, items: list[Object], meta: Object) -> Object:
        """Return shown objects as a list of their kind."""
        api_version = self.resource.api_version(self.version.name)
        return {
            "kind": self.resource.list_kind,
            "apiVersion": api_version,
            "metadata": meta,
            "items": items,
        }

    async def stored(self, obj: Object) -> Object:
        """Return a client's object in the stored version."""
        return (await self.api.converter.converted(self.resource, [obj], self.resource.storage))[0]


def asked(api: Api, call: HttpRequest, target: ResourcePath) -> KindRequest:
    """Look up the kind of a path; 404 when nothing of that name is served."""
    found = api.store.catalog.at(target.group, target.version, target.plural)
    if found is None:
        raise no_such_path()
    resource, version = found
    if target.namespace and not resource.namespaced:
        raise no_such_path()
    if target.name and resource.namespaced and not target.namespace:
        raise no_such_path()
    if target.subresource and not _has(version, target.subresource):
        raise no_such_path()
    return KindRequest(api=api, call=call, target=target, resource=resource, version=version)


def _has(version: ServedVersion, subresource: str) -> bool:
    if subresource == "status":
        return version.has_status
    return subresource == "scale" and version.scale is not None
