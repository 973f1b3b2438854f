"""Signatures of requests to pods: HMAC-SHA256 with a key that only the run's pods are handed."""

import hmac
from hashlib import sha256

TIMESTAMP = "X-Queueing-Timestamp"
SIGNATURE = "X-Queueing-Signature"


def signature(key: str, timestamp: str, method: str, path: str, body: bytes) -> str:
    """Return the signature of a request. The time in it bounds how long it can be replayed."""
    signed = f"{timestamp}\n{method}\n{path}\n".encode() + body
    return "sha256=" + hmac.new(key.encode(), signed, sha256).hexdigest()
