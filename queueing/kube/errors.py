"""What may go wrong with a request, sorted by the one question that matters: was it done.

`RefusedError`: it did not, and the server says so. `UnclearError`: it may have, or may still.
`NotSentError`: it did not, because it never left this process.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

import msgspec

_TEXT_LIMIT = 300
_NOT_PERMITTED = re.compile('is forbidden: User ".*" cannot ')
"""What the API server's authorizer says. Admission, which speaks of the object, does not."""


class StatusCause(msgspec.Struct, frozen=True):
    """One field the server complains about, as in `status.details.causes`."""

    reason: str = ""
    message: str = ""
    field: str = ""


class _Details(msgspec.Struct, frozen=True, rename="camel"):
    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True):
    """The server's own description of a failure; also the object of a watch's ERROR event."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: _Details | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is known of a failure: `status` is 0 without a reply, `retry_after` is in seconds."""

    message: str
    status: int = 0
    reason: str = ""
    causes: tuple[StatusCause, ...] = ()
    retry_after: float = 0.0


class KubeError(Exception):
    """A request that did not end in success."""

    def __init__(self, complaint: Complaint | str) -> None:
        self.complaint = Complaint(complaint) if isinstance(complaint, str) else complaint
        super().__init__(self.complaint.message)

    @property
    def status(self) -> int:
        """HTTP status code; 0 when there was no reply."""
        return self.complaint.status

    @property
    def reason(self) -> str:
        """The machine-readable word of the server, such as `AlreadyExists`."""
        return self.complaint.reason

    @property
    def message(self) -> str:
        """The sentence for people."""
        return self.complaint.message

    @property
    def causes(self) -> tuple[StatusCause, ...]:
        """The fields complained about."""
        return self.complaint.causes

    @property
    def retry_after(self) -> float:
        """Seconds that the server asks us to wait; 0 when it does not."""
        return self.complaint.retry_after


class RefusedError(KubeError):
    """The server refused: the request changed nothing."""


class BadRequestError(RefusedError):
    """400: the request itself is malformed."""


class UnauthorizedError(RefusedError):
    """401: the credentials are not accepted, also after they were renewed."""


class ForbiddenError(RefusedError):
    """403: the identity may not do this, or an admission policy or quota says no."""


class NotPermittedError(ForbiddenError):
    """403: the identity may not do this, whatever the object says.

    It may be allowed soon: an API server that has just started does not know all roles yet.
    """


class NotFoundError(RefusedError):
    """404: no such object, or no such resource."""


class ConflictError(RefusedError):
    """409: the object is not, or no longer, what the precondition says."""


class AlreadyExistsError(ConflictError):
    """409 with reason AlreadyExists: the name is taken."""


class GoneError(RefusedError):
    """410: the resource version or the page token is too old; list again."""


class InvalidError(RefusedError):
    """422: the object breaks a rule; `causes` names the fields."""


class UnclearError(KubeError):
    """The request may have taken effect, or may do so later."""


class ThrottledError(UnclearError):
    """429: too many requests, or a disruption budget holds; see `retry_after`."""


class UnavailableError(UnclearError):
    """5xx: the server, or a proxy before it, failed."""


class LostError(UnclearError):
    """No reply: the connection broke, or the hard timeout passed; it may have been sent."""


class NotSentError(KubeError):
    """The request never left this process."""


class UnreachableError(NotSentError):
    """No connection could be made."""


class FencedError(NotSentError):
    """Sending was forbidden: the leadership does not last long enough for the write."""


_BY_STATUS: Mapping[int, type[KubeError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    408: UnavailableError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: ThrottledError,
}
_BY_REASON: Mapping[str, type[KubeError]] = {
    "AlreadyExists": AlreadyExistsError,
    "Expired": GoneError,
}


def may_pass(error: KubeError) -> bool:
    """Say whether the same request may succeed later: nobody said no to it for good."""
    return not isinstance(error, RefusedError) or isinstance(error, NotPermittedError)


def error_of(status: int, body: bytes, retry_after: str = "") -> KubeError:
    """Turn a reply that is no success into its error; `retry_after` is the header's text.

    A reply need not come from an API server: a proxy's HTML page is kept as the first words of the
    message.
    """
    try:
        said = msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        said = Status(message=" ".join(body[:_TEXT_LIMIT].decode("utf-8", "replace").split()))
    return error_of_status(said, status, retry_after)


def error_of_status(said: Status, status: int, retry_after: str = "") -> KubeError:
    """Turn a decoded Status into its error; `status` is the HTTP code, or the Status' own."""
    details = said.details or _Details()
    family = UnavailableError if status >= HTTPStatus.INTERNAL_SERVER_ERROR else RefusedError
    kind = _BY_REASON.get(said.reason) or _BY_STATUS.get(status, family)
    if kind is ForbiddenError and _NOT_PERMITTED.search(said.message):
        kind = NotPermittedError
    wait = float(retry_after) if retry_after.isdigit() else float(details.retry_after_seconds)
    message = said.message or f"the server answered {status} without a message"
    return kind(Complaint(message, status, said.reason, details.causes, wait))
