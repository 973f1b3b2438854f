"""Admission webhooks: which apply to a write, in which order, and what their answers do."""

import base64
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
import msgspec

from queueing.apiserver.admission.conversion import client_url, trust_of
from queueing.apiserver.change.json_patch import patched
from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.selectors import labels_of, selector_match
from queueing.apiserver.memory.store import Store
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.tree import Object, dig, name_of, namespace_of

_KINDS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
_GROUP = "admissionregistration.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One write under review."""

    resource: Resource
    operation: str
    obj: Object | None
    old: Object | None
    namespace: str
    name: str
    subresource: str = ""
    dry_run: bool = False

    def with_object(self, obj: Object) -> "Review":
        return replace(self, obj=obj)


@dataclass(slots=True)
class WebhookAdmission:
    """Asks the webhooks that are configured in the store."""

    store: Store
    session: aiohttp.ClientSession
    services: dict[str, str] = field(default_factory=dict)

    def concerns(self, kind: str) -> bool:
        """Tell whether any webhook configuration of a kind exists at all."""
        return bool(self.store.items(self.store.catalog.builtin(_GROUP, kind)))

    async def mutated(self, review: Review) -> Object | None:
        """Return the object as the mutating webhooks leave it, in the order of their names."""
        obj = review.obj
        if not self.concerns(_KINDS[0]):
            return obj
        for name, hook in self._matching(_KINDS[0], review):
            answer = await self._ask(hook, name, review.with_object(obj) if obj else review)
            patch = dig(answer, "response", "patch")
            if patch and obj is not None:
                obj = patched(obj, msgspec.json.decode(base64.b64decode(patch)))
        return obj

    async def validated(self, review: Review) -> list[str]:
        """Ask the validating webhooks; the result is their warnings. A refusal is raised."""
        warnings: list[str] = []
        if self.concerns(_KINDS[1]):
            for name, hook in self._matching(_KINDS[1], review):
                answer = await self._ask(hook, name, review)
                warnings += dig(answer, "response", "warnings", default=[])
        return warnings

    def _matching(self, kind: str, review: Review) -> Iterator[tuple[str, Object]]:
        for configuration in self.store.items(self.store.catalog.builtin(_GROUP, kind)):
            for hook in configuration.get("webhooks") or ():
                if self._applies(hook, review):
                    yield str(hook["name"]), hook

    def _applies(self, hook: Object, review: Review) -> bool:
        if review.resource.group == _GROUP:
            return False
        if not any(_rule_covers(rule, review) for rule in hook.get("rules") or ()):
            return False
        if not self._namespace_fits(hook.get("namespaceSelector"), review):
            return False
        test = selector_match(hook.get("objectSelector"))
        return any(test(labels_of(obj)) for obj in (review.obj, review.old) if obj is not None)

    def _namespace_fits(self, selector: Object | None, review: Review) -> bool:
        if not selector:
            return True
        test = selector_match(selector)
        if review.resource.key == "namespaces":
            return test(labels_of(review.obj or review.old or {}))
        if not review.namespace:
            return True
        kind = self.store.catalog.builtin("", "namespaces")
        namespace = self.store.peek(kind, "", review.namespace)
        return test(labels_of(namespace or {}))

    async def _ask(self, hook: Object, name: str, review: Review) -> Any:
        """Return the webhook's answer; a refusal, or a failure under `Fail`, is raised."""
        uid = str(uuid.uuid4())
        body = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": _request(uid, review),
        }
        try:
            answer = await self._post(hook, body)
        except (aiohttp.ClientError, TimeoutError, msgspec.DecodeError, ApiFailure) as error:
            if hook.get("failurePolicy") == "Ignore":
                return {}
            message = (
                f'Internal error occurred: failed calling webhook "{name}": failed to call '
                f"webhook: {error}"
            )
            raise ApiFailure(500, "InternalError", message) from error
        if dig(answer, "response", "uid") != uid:
            raise ApiFailure(
                500,
                "InternalError",
                f'Internal error occurred: failed calling webhook "{name}": expected '
                f"response.uid={uid}",
            )
        if not dig(answer, "response", "allowed"):
            raise _refused(name, dig(answer, "response", "status", default={}) or {})
        return answer

    async def _post(self, hook: Object, body: Object) -> Any:
        client = hook.get("clientConfig") or {}
        seconds = hook.get("timeoutSeconds") or 10
        async with self.session.post(
            f"{client_url(client, self.services)}?timeout={seconds}s",
            data=msgspec.json.encode(body),
            headers={"Content-Type": "application/json"},
            ssl=trust_of(client),
            timeout=aiohttp.ClientTimeout(total=seconds),
        ) as response:
            content = await response.read()
            if response.status != 200:  # noqa: PLR2004
                raise ApiFailure(500, "InternalError", f"the server answered {response.status}")
            return msgspec.json.decode(content)


def _refused(name: str, status: Object) -> ApiFailure:
    reason = str(status.get("message") or status.get("reason") or "")
    text = f'admission webhook "{name}" denied the request'
    message = f"{text}: {reason}" if reason else f"{text} without explanation"
    return ApiFailure(
        int(status.get("code") or 400),
        str(status.get("reason") or "BadRequest"),
        message,
        **(status.get("details") or {}),
    )


def _rule_covers(rule: Object, review: Review) -> bool:
    resource = review.resource
    scope = "Namespaced" if resource.namespaced else "Cluster"
    versions = {*(version.name for version in resource.versions), "*"}
    return (
        bool({resource.group, "*"} & set(rule.get("apiGroups") or ()))
        and bool(versions & set(rule.get("apiVersions") or ()))
        and bool({review.operation, "*"} & set(rule.get("operations") or ()))
        and any(_covers_path(path, review) for path in rule.get("resources") or ())
        and rule.get("scope", "*") in ("*", scope)
    )


def _covers_path(path: str, review: Review) -> bool:
    """`pods` is the kind alone, `pods/*` the kind and every subresource of it."""
    plural, _, subresource = path.partition("/")
    return plural in ("*", review.resource.plural) and subresource in ("*", review.subresource)


def _request(uid: str, review: Review) -> Object:
    resource = review.resource
    kind = {"group": resource.group, "version": resource.storage, "kind": resource.kind}
    plural = {"group": resource.group, "version": resource.storage, "resource": resource.plural}
    made: Object = {
        "uid": uid,
        "kind": kind,
        "resource": plural,
        "requestKind": kind,
        "requestResource": plural,
        "name": review.name or name_of(review.obj or {}),
        "operation": review.operation,
        "userInfo": {
            "username": "kubernetes-admin",
            "groups": ["system:masters", "system:authenticated"],
        },
        "object": review.obj,
        "oldObject": review.old,
        "dryRun": review.dry_run,
        "options": {"apiVersion": "meta.k8s.io/v1", "kind": f"{review.operation.title()}Options"},
    }
    namespace = review.namespace or namespace_of(review.obj or {})
    if namespace:
        made["namespace"] = namespace
    if review.subresource:
        made["subResource"] = made["requestSubResource"] = review.subresource
    return made
