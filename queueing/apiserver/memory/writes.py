"""Create, update and delete by the rules of the kinds, without awaiting anything.

A request does the same in two halves (`prepare_…`, then admission, then `commit_…`); the simulation
and the loader use the whole. What a webhook would do is not done here.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from queueing.apiserver.change.ownership import Manager, after_update, of_creation, with_entries
from queueing.apiserver.failures import bad_request, conflict, forbidden, not_found
from queueing.apiserver.memory.store import Store
from queueing.apiserver.resources.resource import Resource, ServedVersion
from queueing.apiserver.rules.creation import Moment, check, created, defaulted
from queueing.apiserver.rules.updating import check_identity, same, updated
from queueing.apiserver.schema.pruning import pruned
from queueing.apiserver.schema.structure import Structure
from queueing.apiserver.tree import Object, copied, metadata, name_of, namespace_of

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


def wire_time(seconds: float) -> str:
    """Return a moment as the API spells it: whole seconds, UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """What a client says with a deletion."""

    uid: str = ""
    version: str = ""
    propagation: str = ""
    grace: int | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who writes, and whether it is only a rehearsal."""

    name: str = "unknown"
    subresource: str = ""
    dry_run: bool = False
    api_version: str = ""


@dataclass(slots=True)
class StoreWrites:
    """The writing side of a store."""

    store: Store
    clock: Callable[[], float]
    new_uid: Callable[[], str] = field(default=lambda: str(uuid.uuid4()))

    def moment(self) -> Moment:
        return Moment(now=wire_time(self.clock()), new_uid=self.new_uid)

    def prepare_create(self, resource: Resource, namespace: str, body: Object) -> Object:
        """Return the object as born, with defaults; the namespace must exist and live."""
        made = created(resource, namespace, body, self.moment())
        self._check_namespace(resource, made)
        return defaulted(resource, resource.stored, made)

    def _check_namespace(self, resource: Resource, obj: Object) -> None:
        if not resource.namespaced:
            return
        name = namespace_of(obj)
        kind = self.store.catalog.builtin("", "namespaces")
        home = self.store.peek(kind, "", name)
        if home is None:
            raise not_found("", "namespaces", name)
        if metadata(home).get("deletionTimestamp"):
            why = f"unable to create new content in namespace {name} because it is being terminated"
            raise forbidden(resource.group, resource.plural, name_of(obj), why)

    def commit_create(self, resource: Resource, obj: Object, author: Author) -> Object:
        """Store the object, owned by its author; a rehearsal stores nothing."""
        if not metadata(obj).get("managedFields"):
            manager = self._manager(resource, author)
            entries = of_creation(
                structure_of(resource), obj, manager, metadata(obj)["creationTimestamp"]
            )
            obj = with_entries(obj, entries)
        if author.dry_run:
            return obj
        return self.store.insert(resource, obj)

    def prepare_update(
        self, resource: Resource, old: Object, new: Object, subresource: str
    ) -> Object:
        """Return the next state of `old` as asked by `new`, with defaults."""
        asked = metadata(new).get("resourceVersion")
        if asked and asked != metadata(old).get("resourceVersion"):
            raise conflict(resource.group, resource.plural, name_of(old))
        uid = metadata(new).get("uid")
        if uid and uid != metadata(old).get("uid"):
            why = (
                f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
                f"{metadata(old).get('uid')}"
            )
            raise conflict(resource.group, resource.plural, name_of(old), why)
        check_identity(resource, old, new)
        if "managedFields" not in metadata(new):
            new = with_entries(new, metadata(old).get("managedFields") or [])
        return updated(resource, old, defaulted(resource, resource.stored, new), subresource)

    def commit_update(self, resource: Resource, old: Object, new: Object, author: Author) -> Object:
        """Store `new` in place of `old` unless nothing changed; finish a waiting deletion."""
        if same(old, new):
            return old
        if author.name:
            manager = self._manager(resource, author)
            entries = after_update(
                structure_of(resource), old, new, manager, wire_time(self.clock())
            )
            new = with_entries(new, entries)
        if author.dry_run:
            return new
        if _may_go(new) and not _holds_content(resource, new):
            self.store.remove(resource, old)
            return new
        return self.store.replace(resource, old, new)

    def _manager(self, resource: Resource, author: Author) -> Manager:
        return Manager(
            name=author.name,
            operation="Update",
            api_version=author.api_version or resource.api_version(),
            subresource=author.subresource,
        )

    def delete(
        self, resource: Resource, old: Object, options: DeleteOptions
    ) -> tuple[Object, bool]:
        """Delete, or begin to; return the last state and whether the object is gone."""
        self._check_preconditions(resource, old, options)
        meta = metadata(old)
        finalizers = _finalizers_for(resource, old, options)
        grace = self._grace(resource, old, options)
        waits = bool(finalizers) or grace > 0 or _holds_content(resource, old)
        if not waits:
            return (old, True) if options.dry_run else (self.store.remove(resource, old), True)
        known = meta.get("deletionGracePeriodSeconds")
        new_meta = {**meta, "finalizers": finalizers}
        if "deletionTimestamp" not in meta:
            when = wire_time(self.clock() + grace)
            new_meta.update(deletionTimestamp=when, deletionGracePeriodSeconds=grace)
            if "generation" in meta:
                new_meta["generation"] = int(meta["generation"]) + 1
        elif known is not None and grace < known:
            new_meta["deletionGracePeriodSeconds"] = grace
        if not finalizers:
            del new_meta["finalizers"]
        if new_meta == meta or options.dry_run:
            return old, False
        marked = {**old, "metadata": new_meta}
        if resource.key == "namespaces":
            marked["status"] = {**(old.get("status") or {}), "phase": "Terminating"}
        return self.store.replace(resource, old, marked), False

    def _check_preconditions(self, resource: Resource, old: Object, options: DeleteOptions) -> None:
        meta = metadata(old)
        for word, asked, found, what in (
            ("UID", options.uid, meta.get("uid"), "deleted and then recreated"),
            ("ResourceVersion", options.version, meta.get("resourceVersion"), "modified"),
        ):
            if asked and asked != found:
                why = (
                    f"the {word} in the precondition ({asked}) does not match the {word} in record "
                    f"({found}). The object might have been {what}"
                )
                raise conflict(resource.group, resource.kind, name_of(old), why)

    def _grace(self, resource: Resource, old: Object, options: DeleteOptions) -> int:
        """Only a pod on a node dies slowly: its kubelet must stop it first."""
        spec = old.get("spec") or {}
        phase = (old.get("status") or {}).get("phase")
        if resource.key != "pods" or not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
            return 0
        default = spec.get("terminationGracePeriodSeconds")
        asked = options.grace if options.grace is not None else default
        known = metadata(old).get("deletionGracePeriodSeconds")
        wanted = 30 if asked is None else int(asked)
        return min(wanted, int(known)) if known is not None else wanted

    # The whole of a write, for callers inside the process.

    def create(self, obj: Object, *, manager: str = "loader") -> Object:
        """Create an object of any served kind."""
        resource, version = self.kind_of(obj)
        body = _pruned(resource, version, copied(obj))
        made = self.prepare_create(resource, namespace_of(obj), body)
        check(resource, version, made)
        return self.commit_create(resource, made, Author(name=manager))

    def update(self, obj: Object, *, subresource: str = "", manager: str = "loader") -> Object:
        """Replace an object; its resourceVersion, when it has one, must be the stored one."""
        resource, version = self.kind_of(obj)
        old = self.store.read(resource, namespace_of(obj), name_of(obj))
        made = self.prepare_update(resource, old, _pruned(resource, version, obj), subresource)
        check(resource, version, made, old)
        return self.commit_update(
            resource, old, made, Author(name=manager, subresource=subresource)
        )

    def create_or_replace(self, obj: Object) -> Object:
        """Create the object, or bring a stored one of that name to the given state."""
        resource, _ = self.kind_of(obj)
        namespace = namespace_of(obj) or ("default" if resource.namespaced else "")
        old = self.store.peek(resource, namespace, name_of(obj))
        if old is None:
            return self.create(obj)
        meta = {**metadata(old), **metadata(obj)}
        return self.update({**copied(obj), "metadata": meta})

    def kind_of(self, obj: Object) -> tuple[Resource, ServedVersion]:
        """Return the kind of a wire object; 404-like failure when it is not served."""
        resource = self.store.catalog.by_kind(str(obj.get("apiVersion")), str(obj.get("kind")))
        if resource is None:
            message = (
                f'no matches for kind "{obj.get("kind")}" in version "{obj.get("apiVersion")}"'
            )
            raise bad_request(message)
        return resource, resource.stored


def structure_of(resource: Resource) -> Structure:
    """Return the merge rules of a kind."""
    return Structure(resource.stored.schema if resource.custom else None)


def _pruned(resource: Resource, version: ServedVersion, obj: Object) -> Object:
    return pruned(version.schema, obj, []) if resource.custom else obj


def _may_go(obj: Object) -> bool:
    meta = metadata(obj)
    return bool(
        meta.get("deletionTimestamp")
        and not meta.get("finalizers")
        and not meta.get("deletionGracePeriodSeconds")
    )


def _holds_content(resource: Resource, obj: Object) -> bool:
    """Tell whether it is a namespace whose content may not be gone yet."""
    return resource.key == "namespaces" and bool((obj.get("spec") or {}).get("finalizers"))


def _finalizers_for(resource: Resource, old: Object, options: DeleteOptions) -> list[str]:
    """Return the finalizers with which the object waits for its end."""
    found = list(metadata(old).get("finalizers") or ())
    propagation = options.propagation
    if not propagation and resource.key == "jobs.batch":
        propagation = "Orphan"
    if not propagation:
        return found
    kept = [name for name in found if name not in (ORPHAN, FOREGROUND)]
    added = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND]}.get(propagation, [])
    return [*kept, *added]
