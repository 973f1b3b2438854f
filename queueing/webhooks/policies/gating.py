"""The mutating policies that queue pods at their creation; webhooks evaluate the same elsewhere.

Three of them: for pods with a queue, for those that get the default one of their namespace, and for
those that an owner's template marked, which that replaces. They fail closed: a pod that was not
gated runs, and nobody would stop it. All patches speak of the pod as it came.

No policy can compute the role of a pod in its group, a SHA-256: the controller does, and writes the
annotation when it starts the pod.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from queueing.core.selectors import Selector
from queueing.translate import labels
from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks.jobs import owners, without_owner
from queueing.webhooks.scope import selector_wire
from queueing.webhooks.suspension import QueuedKind

Wire = dict[str, Any]

API_VERSION: Final = "admissionregistration.k8s.io/v1"
KUEUE: Final = "kueue.x-k8s.io/v1beta2"
QUEUED: Final = "queueing-gate-pods"
BY_DEFAULT: Final = "queueing-gate-pods-by-default"
OF_PARENTS: Final = "queueing-gate-pods-of-parents"

HAS_QUEUE: Final = (
    f"has(object.metadata.labels) && '{labels.QUEUE_NAME}' in object.metadata.labels"
    f" && object.metadata.labels['{labels.QUEUE_NAME}'] != ''"
)
HAS_PARENT: Final = (
    "has(object.metadata.annotations)"
    f" && '{labels.SUSPENDING_PARENT}' in object.metadata.annotations"
)
_NO_QUEUE: Final = (
    f"!has(object.metadata.labels) || !('{labels.QUEUE_NAME}' in object.metadata.labels)"
)


def _add(path: str, value: str) -> str:
    return f"[JSONPatch{{op: 'add', path: '{path}', value: {value}}}]"


def _unless(test: str, patches: str) -> str:
    return f"({test} ? [] : {patches})"


def _label(name: str, value: str) -> str:
    return _add(f"/metadata/labels/{name.replace('/', '~1')}", f"'{value}'")


def _gate(name: str) -> str:
    return _unless(
        "has(object.spec.schedulingGates)"
        f" && object.spec.schedulingGates.exists(g, g.name == '{name}')",
        _add("/spec/schedulingGates/-", f"{{'name': '{name}'}}"),
    )


_GATE: Final = " + ".join(
    (
        _unless("has(object.spec.schedulingGates)", _add("/spec/schedulingGates", "[]")),
        _gate(labels.GATE),
        # None can be added later; a start takes it away where no topology chooses nodes.
        _gate(labels.TOPOLOGY_GATE),
    )
)
_ROOM: Final = _unless("has(object.metadata.labels)", _add("/metadata/labels", "{}"))
_OURS: Final = " + ".join(
    (
        _label(labels.MANAGED, "true"),
        _unless("has(object.metadata.finalizers)", _add("/metadata/finalizers", "[]")),
        _unless(
            "has(object.metadata.finalizers)"
            f" && object.metadata.finalizers.exists(f, f == '{labels.MANAGED}')",
            _add("/metadata/finalizers/-", f"'{labels.MANAGED}'"),
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
    parent = (OF_PARENTS, [("of-parent", HAS_PARENT)])
    alone = [("of-no-parent", f"!({HAS_PARENT})"), ("without-owner", without_owner(owners(kinds)))]
    labelled = [] if without_queue_name else [("queued", HAS_QUEUE)]
    wanted: list[tuple[str, Sequence[tuple[str, str]]]] = [parent]
    if pods is Pods.ALL:
        wanted += [
            (QUEUED, [*labelled, *alone]),
            (BY_DEFAULT, [("without-queue", _NO_QUEUE), *alone]),
        ]
    chosen = {} if without_queue_name else {QUEUED: labels.QUEUE_NAME}
    return [
        wire
        for name, conditions in wanted
        for wire in _pair(name, conditions, namespaces, chosen.get(name, ""))
    ]


def _pair(
    name: str, conditions: Iterable[tuple[str, str]], namespaces: Selector, label: str
) -> tuple[Wire, Wire]:
    constraints: Wire = {
        "namespaceSelector": selector_wire(namespaces),
        "resourceRules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["pods"],
            }
        ],
    }
    if label:
        exists = {"key": label, "operator": "Exists"}
        constraints["objectSelector"] = {"matchExpressions": [exists]}
    spec: Wire = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": constraints,
        "matchConditions": [{"name": key, "expression": text} for key, text in conditions],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": PATCHES[name]}}],
    }
    binding: Wire = {"policyName": name}
    if name == BY_DEFAULT:
        # Without its definition the parameter cannot be looked up: pods must not suffer from that.
        spec["failurePolicy"] = "Ignore"
        spec["paramKind"] = {"apiVersion": KUEUE, "kind": "LocalQueue"}
        binding["paramRef"] = {"name": "default", "parameterNotFoundAction": "Allow"}
    return (
        _object("MutatingAdmissionPolicy", name, spec),
        _object("MutatingAdmissionPolicyBinding", name, binding),
    )


def _object(kind: str, name: str, spec: Wire) -> Wire:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
