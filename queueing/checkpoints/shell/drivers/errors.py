"""The error of a request that reached nobody."""


class NoticeError(Exception):
    """A request to save could not be delivered; the message says why. Another try may succeed."""
