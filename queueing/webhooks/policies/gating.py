"""The mutating policies that queue pods at their creation; webhooks evaluate the same elsewhere.

Three of them: for pods with a queue, for those that get the default one of their namespace, and for
those that an owner's template marked, which that replaces. They fail closed: a pod that was not
gated runs, and nobody would stop it. All patches speak of the pod as it came.

No policy can compute the role of a pod in its group, a SHA-256: the controller does, and writes the
annotation when it starts the pod.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from queueing.core.selectors import Selector
from queueing.translate import labels
from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks.jobs import owners, without_owner
from queueing.webhooks.patches import added, room, unless
from queueing.webhooks.policies.pairs import by_patches, mutating, named
from queueing.webhooks.scope import selector_wire
from queueing.webhooks.suspension import POD, QueuedKind

Wire = dict[str, Any]

QUEUED: Final = "queueing-gate-pods"
BY_DEFAULT: Final = "queueing-gate-pods-by-default"
OF_PARENTS: Final = "queueing-gate-pods-of-parents"
_LABELS: Final = ["metadata", "labels"]

HAS_QUEUE: Final = (
    f"has(object.metadata.labels) && '{labels.QUEUE_NAME}' in object.metadata.labels"
    f" && object.metadata.labels['{labels.QUEUE_NAME}'] != ''"
)
HAS_PARENT: Final = (
    "has(object.metadata.annotations)"
    f" && '{labels.SUSPENDING_PARENT}' in object.metadata.annotations"
)
NO_QUEUE: Final = (
    f"!has(object.metadata.labels) || !('{labels.QUEUE_NAME}' in object.metadata.labels)"
)


def _label(name: str, value: str) -> str:
    return added([*_LABELS, name], repr(value))


def _gate(name: str) -> str:
    return unless(
        "has(object.spec.schedulingGates)"
        f" && object.spec.schedulingGates.exists(g, g.name == '{name}')",
        added(["spec", "schedulingGates", "-"], f"{{'name': '{name}'}}"),
    )


_GATE: Final = " + ".join(
    (
        unless("has(object.spec.schedulingGates)", added(["spec", "schedulingGates"], "[]")),
        _gate(labels.GATE),
        # None can be added later; a start takes it away where no topology chooses nodes.
        _gate(labels.TOPOLOGY_GATE),
    )
)
_ROOM: Final = room(_LABELS)
_OURS: Final = " + ".join(
    (
        _label(labels.MANAGED, "true"),
        unless("has(object.metadata.finalizers)", added(["metadata", "finalizers"], "[]")),
        unless(
            "has(object.metadata.finalizers)"
            f" && object.metadata.finalizers.exists(f, f == '{labels.MANAGED}')",
            added(["metadata", "finalizers", "-"], repr(labels.MANAGED)),
        ),
        _GATE,
    )
)
PATCHES: Final[Mapping[str, str]] = {
    QUEUED: f"{_ROOM} + {_OURS}",
    BY_DEFAULT: f"{_ROOM} + {_label(labels.QUEUE_NAME, 'default')} + {_OURS}",
    # Templates of some owners must not be changed, so the label is given to their pods alone.
    OF_PARENTS: f"{_ROOM} + {_label(labels.MANAGED, 'true')} + {_GATE}",
}
"""What each of the policies does to a pod, in CEL."""
CLASS: Final = _label(labels.PRIORITY_CLASS, "default")
"""What gives a pod that is queued the WorkloadPriorityClass `default`, beside that."""


def render(
    pods: Pods,
    namespaces: Selector,
    kinds: Iterable[QueuedKind],
    *,
    without_queue_name: bool = False,
) -> list[Wire]:
    """Return the policies, each followed by its binding.

    Pods that are controlled by an object of a kind that is on are queued with that, or not at all.
    """
    if pods is Pods.NONE:
        return []
    alone = {"of-no-parent": f"!({HAS_PARENT})", "without-owner": without_owner(owners(kinds))}
    labelled = {} if without_queue_name else {"queued": HAS_QUEUE}
    wanted = {OF_PARENTS: {"of-parent": HAS_PARENT}}
    if pods is Pods.ALL:
        wanted[QUEUED] = {**labelled, **alone}
        wanted[BY_DEFAULT] = {"without-queue": NO_QUEUE, **alone}
    chosen = {} if without_queue_name else {QUEUED: labels.QUEUE_NAME}
    return [
        wire
        for name, conditions in wanted.items()
        for wire in _pair(name, conditions, namespaces, chosen.get(name, ""))
    ]


def _pair(
    name: str, conditions: Mapping[str, str], namespaces: Selector, label: str
) -> tuple[Wire, Wire]:
    constraints: Wire = {
        "namespaceSelector": selector_wire(namespaces),
        "resourceRules": [{**POD.rule, "operations": ["CREATE"]}],
    }
    if label:
        exists = {"key": label, "operator": "Exists"}
        constraints["objectSelector"] = {"matchExpressions": [exists]}
    spec: Wire = {
        "failurePolicy": "Fail",
        "matchConstraints": constraints,
        "matchConditions": named(conditions),
    }
    parameter = "LocalQueue" if name == BY_DEFAULT else ""
    return mutating(name, spec, by_patches(PATCHES[name]), parameter=parameter)
