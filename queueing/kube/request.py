"""What can be asked of the API server, as values: bodies, queries, and how a call is made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

Body = bytes | Mapping[str, Any] | Sequence[Any] | msgspec.Struct
"""What can be sent: encoded already, or anything msgspec can encode."""

READ_TIMEOUT_S = 30.0
WRITE_TIMEOUT_S = 10.0
SETUP_TIMEOUT_S = 30.0
"""For what prepares the server and decides nothing, so that no Lease bounds it: before it answers,
a server compiles every expression of an admission policy, which may take a second of its CPU."""
JSON = "application/json"
METADATA = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """How one request is made. `timeout_s` bounds all of it; None means the default of its kind.

    `field_manager` defaults to the client's own; `force` takes fields over in an apply;
    `traceparent` is sent as the W3C header.
    """

    timeout_s: float | None = None
    dry_run: bool = False
    field_manager: str = ""
    force: bool = False
    traceparent: str = ""


PLAIN = Call()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """One page of a quorum list: no resourceVersion is ever sent, so the answer is never stale.

    A `limit` of 0 asks for everything at once.
    """

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 500
    continue_token: str = ""

    def parameters(self) -> dict[str, str]:
        """Return the URL's query."""
        return stated(
            labelSelector=self.label_selector,
            fieldSelector=self.field_selector,
            limit=str(self.limit or ""),
            **{"continue": self.continue_token},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchQuery:
    """A watch from `resource_version` on; the server ends it after `timeout_s`."""

    resource_version: str
    label_selector: str = ""
    field_selector: str = ""
    timeout_s: int = 300

    def parameters(self) -> dict[str, str]:
        """Return the URL's query."""
        return stated(
            watch="true",
            allowWatchBookmarks="true",
            resourceVersion=self.resource_version,
            labelSelector=self.label_selector,
            fieldSelector=self.field_selector,
            timeoutSeconds=str(self.timeout_s),
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it goes out; `path` is encoded already."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    content_type: str = JSON
    accept: str = ""
    """What is asked for instead of the object in JSON."""

    @property
    def label(self) -> str:
        """Method and path, for messages."""
        return f"{self.method} {self.path}"


def stated(**parameters: str) -> dict[str, str]:
    """Return the parameters that have a value."""
    return {name: value for name, value in parameters.items() if value}
