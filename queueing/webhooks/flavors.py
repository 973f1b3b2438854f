"""ResourceFlavor, Topology, LocalQueue and AdmissionCheck: what a schema cannot say of them."""

from collections.abc import Iterator

from queueing.webhooks.findings import (
    Finding,
    Wire,
    dig,
    duplicate,
    entries,
    immutable,
    invalid,
    of_definition,
)

HOSTNAME = "kubernetes.io/hostname"
TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
OPERATORS = ("Equal", "Exists")
KNOWN_EFFECTS = "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
KNOWN_OPERATORS = "supported toleration values: 'Equal'(default), 'Exists'"


def check_flavor(flavor: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a ResourceFlavor."""
    found = (*_taints(flavor), *_tolerations(flavor), *_topology_name(flavor, old))
    return list(of_definition(found))


def _taints(flavor: Wire) -> Iterator[Finding]:
    for index, taint in enumerate(entries(flavor, "spec", "nodeTaints")):
        effect = taint.get("effect")
        if effect not in TAINT_EFFECTS:
            yield invalid(f"spec.nodeTaints[{index}].effect", effect, KNOWN_EFFECTS)


def _tolerations(flavor: Wire) -> Iterator[Finding]:
    for index, toleration in enumerate(entries(flavor, "spec", "tolerations")):
        path = f"spec.tolerations[{index}]"
        operator = toleration.get("operator") or "Equal"
        key, value = toleration.get("key") or "", toleration.get("value") or ""
        effect = toleration.get("effect") or ""
        if operator not in OPERATORS:
            yield invalid(f"{path}.operator", operator, KNOWN_OPERATORS)
        if not key and operator != "Exists":
            told = "operator must be Exists when 'key' is empty, which means \"match all values"
            yield invalid(f"{path}.operator", operator, f'{told} and all keys"')
        if operator == "Exists" and value:
            yield invalid(f"{path}.value", value, "value must be empty when 'operator' is 'Exists'")
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            told = "effect must be 'NoExecute' when 'tolerationSeconds' is set"
            yield invalid(f"{path}.effect", effect, told)
        if effect and effect not in TAINT_EFFECTS:
            yield invalid(f"{path}.effect", effect, KNOWN_EFFECTS)


def _topology_name(flavor: Wire, old: Wire | None) -> Iterator[Finding]:
    now, before = dig(flavor, "spec", "topologyName"), dig(old, "spec", "topologyName")
    if now and not dig(flavor, "spec", "nodeLabels"):
        told = "at least one nodeLabel is required when topology is set"
        yield invalid("spec.nodeLabels", "", told)
    if before and now != before:
        told = "topologyName is immutable when topologyName is set"
        yield invalid("spec.topologyName", now, told)


def check_topology(topology: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a Topology."""
    labels = _levels(topology)
    found = [
        duplicate(f"spec.levels[{index}]", label)
        for index, label in enumerate(labels)
        if label in labels[:index]
    ]
    found += [
        invalid(
            f"spec.levels[{index}].nodeLabel",
            label,
            f"the {HOSTNAME} label can only be used at the lowest level of topology",
        )
        for index, label in enumerate(labels[:-1])
        if label == HOSTNAME
    ]
    before = _levels(old) if old else labels
    lowest_is_host = before[-1:] == [HOSTNAME] and labels[-1:] == [HOSTNAME]
    if before != labels and not lowest_is_host:
        found.append(immutable("spec.levels", labels))
    return list(of_definition(found))


def _levels(topology: Wire) -> list[str]:
    return [str(level.get("nodeLabel", "")) for level in entries(topology, "spec", "levels")]


def check_local_queue(queue: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a LocalQueue."""
    now, before = dig(queue, "spec", "clusterQueue"), dig(old, "spec", "clusterQueue")
    found = [immutable("spec.clusterQueue", now)] if old and now != before else []
    return list(of_definition(found))


def check_admission_check(check: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with an AdmissionCheck."""
    now, before = dig(check, "spec", "controllerName"), dig(old, "spec", "controllerName")
    found = [immutable("spec.controllerName", now)] if old and now != before else []
    return list(of_definition(found))
