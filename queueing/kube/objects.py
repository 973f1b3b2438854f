"""The part of every object that this package itself must read."""

from typing import Protocol

import msgspec


class ObjectMeta(msgspec.Struct, rename="camel", frozen=True):
    """The identifying part of `metadata`; extend it with the fields your resource needs."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class Identified(msgspec.Struct, frozen=True):
    """Any object, read for its identity alone."""

    metadata: ObjectMeta


class HasIdentity(Protocol):
    """What a metadata struct of a caller must offer."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def uid(self) -> str: ...
    @property
    def resource_version(self) -> str: ...


class HasMetadata(Protocol):
    """What an object struct of a caller must offer."""

    @property
    def metadata(self) -> HasIdentity: ...


def key_of(identity: HasIdentity) -> str:
    """Return "namespace/name", or the bare name for a cluster-wide object."""
    return f"{identity.namespace}/{identity.name}" if identity.namespace else identity.name
