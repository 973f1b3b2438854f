"""What types cannot say: one table of CEL rules per version and kind.

A rule stands at a path of the schema (`[]` steps into the items of a list, `{}` into the values of
a map) and is given there as `self`. Rules that need more than the API server's cost limit for CRDs
(comparing quantities of all flavors, comparing pod templates, telling a number in the message) are
not here but in admission policies. Webhooks and plans evaluate both.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from queueing_api.crd.rules.checkpoints import CHECKPOINT, CHECKPOINT_POLICY
from queueing_api.crd.rules.credits import (
    CREDIT_ACCOUNT,
    CREDIT_BUDGET,
    CREDIT_GRANT,
    CREDIT_POLICY,
    USAGE_RECORD,
)
from queueing_api.crd.rules.devices import DEVICE_FLAVOR
from queueing_api.crd.rules.infrastructure import ADMISSION_CHECK, RESOURCE_FLAVOR, TOPOLOGY
from queueing_api.crd.rules.kinds import QUEUEABLE_KIND
from queueing_api.crd.rules.quota import (
    CLUSTER_QUEUE,
    CLUSTER_QUEUE_V1BETA1,
    COHORT,
    LOCAL_QUEUE,
)
from queueing_api.crd.rules.rule import Rule
from queueing_api.crd.rules.workload import WORKLOAD, WORKLOAD_V1BETA1

_V1BETA2: Final = {
    "AdmissionCheck": ADMISSION_CHECK,
    "ClusterQueue": CLUSTER_QUEUE,
    "Cohort": COHORT,
    "LocalQueue": LOCAL_QUEUE,
    "ResourceFlavor": RESOURCE_FLAVOR,
    "Topology": TOPOLOGY,
    "Workload": WORKLOAD,
}
_V1BETA1: Final = {
    **_V1BETA2,
    "ClusterQueue": CLUSTER_QUEUE_V1BETA1,
    "Workload": WORKLOAD_V1BETA1,
}
_V1ALPHA1: Final = {
    "Checkpoint": CHECKPOINT,
    "CheckpointPolicy": CHECKPOINT_POLICY,
    "CreditAccount": CREDIT_ACCOUNT,
    "CreditBudget": CREDIT_BUDGET,
    "CreditGrant": CREDIT_GRANT,
    "CreditPolicy": CREDIT_POLICY,
    "DeviceFlavor": DEVICE_FLAVOR,
    "QueueableKind": QUEUEABLE_KIND,
    "UsageRecord": USAGE_RECORD,
}
RULES: Final[Mapping[str, Mapping[str, tuple[Rule, ...]]]] = MappingProxyType(
    {
        "v1alpha1": MappingProxyType(_V1ALPHA1),
        "v1beta1": MappingProxyType(_V1BETA1),
        "v1beta2": MappingProxyType(_V1BETA2),
    }
)
"""The rules of each kind, by version."""

__all__ = ["RULES", "Rule"]
