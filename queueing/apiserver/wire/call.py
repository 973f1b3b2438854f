"""One request as the verbs see it, and the resource that its path names."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.apiserver.failures import bad_request


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request, read to its end."""

    method: str
    path: str
    query: Mapping[str, str]
    content_type: str = ""
    accept: str = ""
    user_agent: str = ""
    body: bytes = b""

    def flag(self, name: str) -> bool:
        """Return a boolean query parameter; absent is false."""
        return self.query.get(name, "").lower() in ("true", "1")

    def number(self, name: str) -> int:
        """Return a whole-number query parameter; absent is 0, anything else 400."""
        text = self.query.get(name, "")
        if not text:
            return 0
        if not text.isdigit():
            raise bad_request(f'invalid value for query parameter {name}: "{text}" is not a number')
        return int(text)

    @property
    def dry_run(self) -> bool:
        asked = self.query.get("dryRun", "")
        if asked not in ("", "All"):
            raise bad_request(f'dryRun: Unsupported value: "{asked}": supported values: "All"')
        return asked == "All"

    @property
    def manager(self) -> str:
        """The field manager: as given, else the client's program name."""
        return self.query.get("fieldManager") or self.user_agent.partition("/")[0] or "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePath:
    """The parts of a resource path; what is absent is an empty string."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def target_of(path: str) -> ResourcePath | None:
    """Return what a path names below `/api/v1` or `/apis/GROUP/VERSION`; None for other paths."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and len(parts) > 2:  # noqa: PLR2004 - api, version, and at least a plural
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:  # noqa: PLR2004 - apis, group, version, plural
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    namespace = ""
    if rest[0] == "namespaces" and rest[2:] and not _of_namespace(group, rest[2:]):
        namespace, rest = rest[1], rest[2:]
    if len(rest) > 3:  # noqa: PLR2004 - plural, name, subresource
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    return ResourcePath(
        group=group,
        version=version,
        plural=plural,
        namespace=namespace,
        name=name,
        subresource=subresource,
    )


def _of_namespace(group: str, words: list[str]) -> bool:
    """`/api/v1/namespaces/NAME/status` is the namespace's own status."""
    return not group and words in (["status"], ["finalize"])
