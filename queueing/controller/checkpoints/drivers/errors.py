"""What keeps a request from being heard."""


class NoticeError(Exception):
    """Nobody could be told; the message says why."""
