"""What keeps a start from being done."""

from queueing.kube.errors import NotSentError
from queueing.translate.devices.messages import DeviceReason


class DevicesRefusedError(Exception):
    """The devices of an admission can never be had like this."""

    def __init__(self, reason: DeviceReason, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class NamespaceFullError(NotSentError):
    """A ResourceQuota of the namespace has no room for a claim or template; that may change."""
