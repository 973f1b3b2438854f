"""Delete one object or a collection."""

from typing import Any

from queueing.apiserver.admission.webhooks import Review
from queueing.apiserver.failures import bad_request, invalid, unsupported_value
from queueing.apiserver.memory.writes import DeleteOptions
from queueing.apiserver.tree import Object, metadata, name_of, namespace_of
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import Reply, decoded, reply
from queueing.apiserver.wire.listing import selected

_RETURNS_OBJECT = frozenset(
    {
        "pods",
        "serviceaccounts",
        "services",
        "resourceclaims.resource.k8s.io",
        "resourcequotas",
        "podtemplates",
    }
)
_POLICIES = ("Foreground", "Background", "Orphan")


async def delete(asked: KindRequest) -> Reply:
    """Answer a DELETE of one object."""
    options = _options(asked)
    old = asked.current()
    await _reviewed(asked, old, options)
    state, gone = asked.api.writes.delete(asked.resource, old, options)
    if not gone or asked.resource.key in _RETURNS_OBJECT:
        return reply(await asked.shown(state))
    return reply(_success(asked, state))


async def delete_collection(asked: KindRequest) -> Reply:
    """Answer a DELETE of everything that the selectors match."""
    options = _options(asked)
    objects = selected(asked)
    for obj in objects:
        await _reviewed(asked, obj, options)
        current = asked.api.store.peek(asked.resource, namespace_of(obj), name_of(obj))
        if current is not None:
            asked.api.writes.delete(asked.resource, current, options)
    version = {"resourceVersion": str(asked.api.store.version)}
    return reply(asked.listed(await asked.shown_all(objects), version))


async def _reviewed(asked: KindRequest, old: Object, options: DeleteOptions) -> None:
    review = Review(
        resource=asked.resource,
        operation="DELETE",
        obj=None,
        old=old,
        namespace=namespace_of(old),
        name=name_of(old),
        dry_run=options.dry_run,
    )
    await asked.api.admission.validated(review)


def _options(asked: KindRequest) -> DeleteOptions:
    """Return what the body and the query say; the body wins."""
    call = asked.call
    body: Any = decoded(call.body, call.content_type) if call.body.strip() else {}
    if not isinstance(body, dict):
        raise bad_request("DeleteOptions must be an object")
    conditions = body.get("preconditions") or {}
    policy = str(body.get("propagationPolicy") or call.query.get("propagationPolicy") or "")
    if body.get("orphanDependents") is not None:
        policy = "Orphan" if body["orphanDependents"] else "Background"
    if policy and policy not in _POLICIES:
        words = (f'"{word}"' for word in (*_POLICIES, "nil"))
        cause = unsupported_value("propagationPolicy", f'"{policy}"', words)
        raise invalid("meta.k8s.io", "DeleteOptions", "", [cause])
    grace = body.get("gracePeriodSeconds", call.query.get("gracePeriodSeconds"))
    return DeleteOptions(
        uid=str(conditions.get("uid") or ""),
        version=str(conditions.get("resourceVersion") or ""),
        propagation=policy,
        grace=int(grace) if grace is not None else None,
        dry_run=call.dry_run or "All" in (body.get("dryRun") or ()),
    )


def _success(asked: KindRequest, state: Object) -> Object:
    details: Object = {
        "name": name_of(state),
        "kind": asked.resource.plural,
        "uid": metadata(state).get("uid"),
    }
    if asked.resource.group:
        details["group"] = asked.resource.group
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }
