"""Objects that jobs of some kinds cannot be read without, such as the runtime of a TrainJob."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from queueing.kinds.compiler import Kind
from queueing.kinds.hooks import Related, RelatedKind
from queueing.kube.client import Client
from queueing.kube.reflector import Added, Deleted, Modified, Reflector, Synced, WatchEvent
from queueing.kube.resources import Resource
from queueing.translate.wire.meta import Meta

_values = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class WholeObject:
    """An object with all its fields."""

    metadata: Meta
    values: Mapping[str, Any]


class RelatedObjects:
    """The objects of one term; `changed` is told which of them changed."""

    def __init__(self, client: Client, changed: Callable[[Related], None]) -> None:
        self._client, self._changed = client, changed
        self._known: dict[Related, Mapping[str, Any]] = {}

    def find(self, named: Related) -> Mapping[str, Any] | None:
        """Return an object; None when there is none."""
        return self._known.get(named)

    def reflectors(self, kind: Kind) -> Iterator[tuple[Reflector[WholeObject], str]]:
        """Yield a reflector for each kind that objects of this one may be related to."""
        for one in kind.hooks.related_kinds:
            made: Reflector[WholeObject] = Reflector(
                self._client,
                _resource(one).within(),
                _read,
                partial(self._on_object, one),
            )
            yield made, one.resource.plural

    def _on_object(self, of: RelatedKind, event: WatchEvent[WholeObject]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                named = _named(of, found.metadata.namespace, found.metadata.name)
                self._known[named] = found.values
                self._changed(named)
            case Deleted(key=key):
                namespace, _, name = key.rpartition("/")
                named = _named(of, namespace, name)
                self._known.pop(named, None)
                self._changed(named)
            case Synced():
                pass


def _read(data: bytes | msgspec.Raw) -> WholeObject:
    values = _values.decode(data)
    return WholeObject(msgspec.convert(values["metadata"], Meta), values)


def _resource(one: RelatedKind) -> Resource:
    named = one.resource
    return Resource(named.group, named.version, named.plural, named.kind, one.namespaced)


def _named(of: RelatedKind, namespace: str, name: str) -> Related:
    named = of.resource
    return Related(api_version=named.api_version, kind=named.kind, name=name, namespace=namespace)
