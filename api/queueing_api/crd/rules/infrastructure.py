"""Rules of the kinds that describe the cluster: ResourceFlavor, Topology, AdmissionCheck."""

from typing import Final

from queueing_api.crd.rules.rule import FIELD_IS_IMMUTABLE, Rule, unchanged

ADMISSION_CHECK: Final = (Rule("spec.controllerName", "self == oldSelf", FIELD_IS_IMMUTABLE),)

_EFFECTS: Final = "'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
RESOURCE_FLAVOR: Final = (
    Rule(
        "spec",
        "!has(self.topologyName) || (has(self.nodeLabels) && size(self.nodeLabels) >= 1)",
        "at least one nodeLabel is required when topology is set",
        field=".nodeLabels",
    ),
    Rule(
        "spec",
        f"!has(oldSelf.topologyName) || ({unchanged('topologyName')})",
        "topologyName is immutable when topologyName is set",
        field=".topologyName",
    ),
    Rule(
        "spec.nodeTaints[]",
        f"self.effect in [{_EFFECTS}]",
        f"supported taint effect values: {_EFFECTS}",
        at=".effect",
    ),
    Rule(
        "spec.tolerations[]",
        "!has(self.operator) || self.operator in ['Equal', 'Exists']",
        "supported toleration values: 'Equal'(default), 'Exists'",
        at=".operator",
    ),
    Rule(
        "spec.tolerations[]",
        "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
        "operator must be Exists when 'key' is empty, which means 'match all values and all keys'",
        at=".operator",
    ),
    Rule(
        "spec.tolerations[]",
        "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
        "a value must be empty when 'operator' is 'Exists'",
        at=".value",
    ),
    Rule(
        "spec.tolerations[]",
        "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        "effect must be 'NoExecute' when 'tolerationSeconds' is set",
        at=".effect",
    ),
    Rule(
        "spec.tolerations[]",
        f"!has(self.effect) || self.effect in ['', {_EFFECTS}]",
        f"supported taint effect values: {_EFFECTS}",
        at=".effect",
    ),
)

_HOSTNAME: Final = "nodeLabel == 'kubernetes.io/hostname'"
TOPOLOGY: Final = (
    Rule(
        "spec.levels",
        "self.all(level, self.exists_one(other, other.nodeLabel == level.nodeLabel))",
        "Duplicate value: no two levels may have the same nodeLabel",
        at="[].nodeLabel",
    ),
    Rule(
        "spec.levels",
        f"!self.exists(level, level.{_HOSTNAME}) || self[size(self) - 1].{_HOSTNAME}",
        "the kubernetes.io/hostname label can only be used at the lowest level of topology",
    ),
    Rule(
        "spec.levels",
        "self == oldSelf || (self[size(self) - 1]."
        f"{_HOSTNAME} && oldSelf[size(oldSelf) - 1].{_HOSTNAME})",
        "levels are immutable unless kubernetes.io/hostname is the lowest level",
    ),
)
