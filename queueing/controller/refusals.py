"""What a start can meet that no trying again will change."""

from queueing.translate.devices.messages import DeviceReason


class DevicesRefusedError(Exception):
    """The devices of an admission can never be had like this."""

    def __init__(self, reason: DeviceReason, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message
