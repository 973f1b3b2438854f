"""`queueing.dev/v1alpha1`: one module per kind. With no object of them, decisions are Kueue's."""

from queueing_api.queueing.v1alpha1.checkpoint import Checkpoint
from queueing_api.queueing.v1alpha1.checkpoint_policy import CheckpointPolicy
from queueing_api.queueing.v1alpha1.credit_account import CreditAccount
from queueing_api.queueing.v1alpha1.credit_budget import CreditBudget
from queueing_api.queueing.v1alpha1.credit_grant import CreditGrant
from queueing_api.queueing.v1alpha1.credit_policy import CreditPolicy
from queueing_api.queueing.v1alpha1.device_flavor import DeviceFlavor
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKind
from queueing_api.queueing.v1alpha1.usage_record import UsageRecord

__all__ = [
    "Checkpoint",
    "CheckpointPolicy",
    "CreditAccount",
    "CreditBudget",
    "CreditGrant",
    "CreditPolicy",
    "DeviceFlavor",
    "QueueableKind",
    "UsageRecord",
]
