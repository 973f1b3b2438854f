"""Errors of a start that are not the API server's."""

from queueing.devices.rules.messages import DeviceReason
from queueing.kube.errors import NotSentError


class DevicesRefusedError(Exception):
    """The devices of an admission cannot be claimed as requested; another try does not help."""

    def __init__(self, reason: DeviceReason, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class NamespaceFullError(NotSentError):
    """A ResourceQuota of the namespace does not allow another claim or template; tried again."""
