"""ConversionReview: what the API server asks, and the answer that it always gets."""

from typing import Any, Final

from queueing_api.kueue.convert.versions import ConversionError, convert

API_VERSION: Final = "apiextensions.k8s.io/v1"


def convert_review(body: Any) -> dict[str, Any]:
    """Answer a ConversionReview: all objects, in their order, or one failure for all of them.

    Never raises: what cannot be converted, and what is no review, is told in the answer.
    """
    request = body.get("request") if isinstance(body, dict) else None
    if not isinstance(request, dict):
        return _answer("", {"result": _failed("the body is no ConversionReview with a request")})
    uid = str(request.get("uid", ""))
    try:
        version = str(request["desiredAPIVersion"])
        converted = [convert(item, version) for item in request["objects"]]
    except ConversionError as error:
        return _answer(uid, {"result": _failed(str(error))})
    except (LookupError, TypeError, AttributeError) as error:
        return _answer(uid, {"result": _failed(f"the request is not complete: {error!r}")})
    return _answer(uid, {"result": {"status": "Success"}, "convertedObjects": converted})


def _failed(message: str) -> dict[str, Any]:
    return {"status": "Failed", "message": message}


def _answer(uid: str, response: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ConversionReview",
        "response": {"uid": uid, **response},
    }
