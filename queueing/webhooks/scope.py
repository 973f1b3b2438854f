"""What of the Configuration decides whom policies and webhooks ask about."""

from dataclasses import dataclass, field
from typing import Any

from queueing.core.selectors import Requirement, Selector
from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks.suspension import JOB, QueuedKind

NAMESPACE_NAME = "kubernetes.io/metadata.name"
MINOR_WITH_MUTATING_POLICIES = 36


def _ordinary_namespaces() -> Selector:
    out = ("kube-system", "kueue-system")
    return Selector((Requirement(key=NAMESPACE_NAME, operator="NotIn", values=out),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose objects are checked, and where the answers come from."""

    namespaces: Selector = field(default_factory=_ordinary_namespaces)
    """Namespaces whose Jobs are managed."""
    without_queue_name: bool = False
    """Whether Jobs without a queue label are managed as well."""
    namespace: str = "kueue-system"
    """Our own."""
    service: str = "kueue-webhook-service"
    reject_unknown_flavors: bool = False
    """Whether a ClusterQueue is refused on update when its checks name flavors that it has not."""
    kinds: tuple[QueuedKind, ...] = (JOB,)
    """Kinds that are on."""
    pods: Pods = Pods.NONE
    """Pods that are queued."""
    minor: int = MINOR_WITH_MUTATING_POLICIES
    """Minor version of the Kubernetes 1.x that is asked."""

    @property
    def not_ours(self) -> dict[str, str]:
        """Spare our own writes: they are checked where they are made."""
        account = f"system:serviceaccount:{self.namespace}:kueue-controller-manager"
        return {"name": "not-ours", "expression": f"request.userInfo.username != '{account}'"}


def selector_wire(selector: Selector) -> dict[str, Any]:
    """Spell a selector as the wire does."""
    return {
        "matchExpressions": [
            {"key": one.key, "operator": one.operator}
            | ({"values": list(one.values)} if one.values else {})
            for one in selector.requirements
        ]
    }
