"""Look kinds up by path, by group and kind, and list them for discovery."""

from collections.abc import Iterable

from queueing.apiserver.failures import qualified
from queueing.apiserver.resources.builtin import BUILTIN, EVENTS_ALIAS
from queueing.apiserver.resources.resource import Resource, ServedVersion


class ServedKinds:
    """Every kind served now; `revision` grows whenever a CRD changes it."""

    def __init__(self, resources: Iterable[Resource] = BUILTIN) -> None:
        self.revision = 0
        self._by_key: dict[str, Resource] = {}
        self._by_path: dict[tuple[str, str, str], tuple[Resource, ServedVersion]] = {}
        self._by_kind: dict[tuple[str, str], Resource] = {}
        for resource in resources:
            self.add(resource)
        self._by_path["events.k8s.io", "v1", "events"] = (self._by_key["events"], EVENTS_ALIAS)

    def add(self, resource: Resource) -> None:
        """Serve a kind, or serve its new description."""
        self.drop(resource.key)
        self._by_key[resource.key] = resource
        self._by_kind[resource.group, resource.kind] = resource
        for version in resource.versions:
            self._by_path[resource.group, version.name, resource.plural] = (resource, version)

    def drop(self, key: str) -> None:
        """Serve a kind no longer; unknown keys are ignored."""
        self.revision += 1
        old = self._by_key.pop(key, None)
        if old is None:
            return
        self._by_kind.pop((old.group, old.kind), None)
        for version in old.versions:
            self._by_path.pop((old.group, version.name, old.plural), None)

    def at(self, group: str, version: str, plural: str) -> tuple[Resource, ServedVersion] | None:
        return self._by_path.get((group, version, plural))

    def by_key(self, key: str) -> Resource | None:
        return self._by_key.get(key)

    def by_kind(self, api_version: str, kind: str) -> Resource | None:
        group, _, _ = api_version.rpartition("/")
        group = "" if group == "events.k8s.io" else group
        return self._by_kind.get((group, kind))

    def builtin(self, group: str, plural: str) -> Resource:
        """Return a kind that is always served."""
        return self._by_key[qualified(group, plural)]

    def all(self) -> list[Resource]:
        """Every kind, ordered by group and plural."""
        return [self._by_key[key] for key in sorted(self._by_key, key=self._order)]

    def groups(self) -> dict[str, list[str]]:
        """Every group with its versions, the preferred one first."""
        found: dict[str, set[str]] = {}
        for group, version, _ in self._by_path:
            found.setdefault(group, set()).add(version)
        return {group: sorted(found[group], key=version_rank) for group in sorted(found)}

    def in_version(self, group: str, version: str) -> list[tuple[Resource, ServedVersion]]:
        return [
            entry
            for (found_group, found_version, _), entry in sorted(
                self._by_path.items(), key=lambda item: item[0]
            )
            if (found_group, found_version) == (group, version)
        ]

    def _order(self, key: str) -> tuple[str, str]:
        resource = self._by_key[key]
        return resource.group, resource.plural


def version_rank(name: str) -> tuple[int, int, int, str]:
    """Sort key by which v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything else."""
    stages = {"": 0, "beta": 1, "alpha": 2}
    for stage in ("alpha", "beta", ""):
        head, separator, tail = name[1:].partition(stage) if stage else (name[1:], "", "")
        if name.startswith("v") and head.isdigit() and (not separator or tail.isdigit()):
            if stage and not separator:
                continue
            return stages[stage], -int(head), -int(tail or 0), name
    return 3, 0, 0, name
