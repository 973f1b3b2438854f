"""`queueing.dev/v1alpha1`: one module per kind. With no object of them, decisions are Kueue's."""

from queueing_api.queueing.v1alpha1.checkpoint import Checkpoint
from queueing_api.queueing.v1alpha1.checkpoint_policy import CheckpointPolicy

__all__ = ["Checkpoint", "CheckpointPolicy"]
