"""Access and token reviews: on this server everybody is an administrator."""

from collections.abc import Mapping
from types import MappingProxyType

from queueing.apiserver.tree import Object, dig
from queueing.apiserver.wire.bodies import Reply, object_body, reply
from queueing.apiserver.wire.call import HttpRequest

_ADMIN: Object = {
    "username": "kubernetes-admin",
    "groups": ["system:masters", "system:authenticated"],
}


def _allowed(_body: Object) -> Object:
    return {"allowed": True, "reason": "the embedded server allows everything"}


def _token(body: Object) -> Object:
    if not dig(body, "spec", "token"):
        return {"authenticated": False, "error": "no token given"}
    return {"authenticated": True, "user": _ADMIN}


_ANSWERS = MappingProxyType(
    {
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": _allowed,
        "/apis/authorization.k8s.io/v1/subjectaccessreviews": _allowed,
        "/apis/authentication.k8s.io/v1/tokenreviews": _token,
    }
)
PATHS: frozenset[str] = frozenset(_ANSWERS)


def review(call: HttpRequest) -> Reply:
    """Answer a POST of a review; nothing is stored."""
    body = object_body(call.body, call.content_type)
    status: Mapping[str, object] = _ANSWERS[call.path](body)
    return reply({**body, "metadata": {}, "status": status}, 201)
