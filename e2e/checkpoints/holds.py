"""Writes that the API server refuses for a while, so that a controller stays in a state."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from e2e.kinds import KINDS, Resource
from e2e.serving import until
from e2e.wire import ApiError
from e2e.world import World

_GROUP = "admissionregistration.k8s.io/v1"
_POLICY, _BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
for _kind, _plural in (
    (_POLICY, "validatingadmissionpolicies"),
    (_BINDING, "validatingadmissionpolicybindings"),
):
    KINDS.setdefault(_kind, Resource(_GROUP, _plural, namespaced=False))
WORKLOAD = ("kueue.x-k8s.io", "workloads/status")
CHECKPOINT = ("queueing.dev", "checkpoints/status")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Updates of a resource that are refused unless the expression holds."""

    resource: tuple[str, str]
    expression: str


def becomes(kind: str, status: str) -> str:
    """Say in CEL that a condition is of this status and was not before."""
    is_so = f"exists(c, c.type == '{kind}' && c.status == '{status}')"
    conditions = "?status.?conditions.orValue([])"
    return f"object.{conditions}.{is_so} && !oldObject.{conditions}.{is_so}"


QUOTA_STAYS = Hold(resource=WORKLOAD, expression=f"!({becomes('QuotaReserved', 'False')})")
EVICTED_STAYS = Hold(resource=WORKLOAD, expression=f"!({becomes('Evicted', 'False')})")
NOBODY_IS_STOPPED = Hold(resource=CHECKPOINT, expression="object.status.phase != 'Suspending'")


@contextmanager
def held(space: World, hold: Hold | None) -> Iterator[None]:
    """Refuse these writes in the test's namespace until the block ends."""
    if hold is None:
        yield
        return
    name = space.name("hold")
    group, resource = hold.resource
    rules = [
        {"apiGroups": [group], "apiVersions": ["*"], "operations": ["UPDATE"]}
        | {"resources": [resource]},
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
        | {"resources": ["configmaps"]},
    ]
    chosen = {"matchLabels": {"kubernetes.io/metadata.name": space.namespace}}
    probing = "request.resource.resource == 'configmaps'"
    probed = "!object.metadata.name.startsWith('probe')"
    space.api.create(
        {
            "apiVersion": _GROUP,
            "kind": _POLICY,
            "metadata": {"name": name},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": rules, "namespaceSelector": chosen},
                "validations": [
                    {"expression": f"{probing} ? {probed} : ({hold.expression})"},
                ],
            },
        }
    )
    binding = {"policyName": name, "validationActions": ["Deny"]}
    space.api.create(
        {"apiVersion": _GROUP, "kind": _BINDING, "metadata": {"name": name}, "spec": binding}
    )
    try:
        until(lambda: _is_in_force(space), what="writes are refused")
        yield
    finally:
        space.api.delete(_BINDING, name)
        space.api.delete(_POLICY, name)


def _is_in_force(space: World) -> bool:
    meta = {"name": f"probe-{secrets.token_hex(3)}", "namespace": space.namespace}
    try:
        space.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    except ApiError as error:
        if error.status == 422:
            return True
        raise
    return False
