"""What a visitor is told instead of a page."""

from http import HTTPStatus


class PageError(Exception):
    """There is no page to show; the text says why, and what to do."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    title = "This did not work"


class UnknownVisitorError(PageError):
    """Nobody knows who visits."""

    status = HTTPStatus.UNAUTHORIZED
    title = "Sign in"


class NotAllowedError(PageError):
    """The cluster does not let the visitor read this."""

    status = HTTPStatus.FORBIDDEN
    title = "You may not read this"


class NotThereError(PageError):
    """There is no such thing."""

    status = HTTPStatus.NOT_FOUND
    title = "There is no such thing"


class NotNowError(PageError):
    """Who would answer is away; it is worth trying again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    title = "No answer just now"
