"""When the claims of pods were made and allocated."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from queueing.devices.wire.claim_times import ClaimTimes, TimedClaim, claim_times
from queueing.devices.wire.delays import Pod


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()


def pod(name: str, *claims: str, shares: str = "", at: float | None = None) -> Pod:
    """Return a pod with claims of its own, one that it shares, and a node since a moment."""
    value: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "team", "uid": name},
        "spec": {"resourceClaims": [{"name": "gpus", "resourceClaimName": shares}]},
        "status": {
            "resourceClaimStatuses": [{"name": "x", "resourceClaimName": one} for one in claims]
        },
    }
    if at is not None:
        placed = {"type": "PodScheduled", "status": "True", "lastTransitionTime": moment(at)}
        value["status"]["conditions"] = [placed]
    return msgspec.convert(value, Pod)


def claim(name: str, made: float, allocated: float | None = None) -> TimedClaim:
    value: dict[str, Any] = {
        "metadata": {"name": name, "namespace": "team", "creationTimestamp": moment(made)}
    }
    if allocated is not None:
        value["status"] = {"allocation": {"allocationTimestamp": moment(allocated)}}
    return msgspec.convert(value, TimedClaim)


def test_a_claim_is_allocated_when_the_server_says_so_or_else_with_its_first_pod() -> None:
    pods = [pod("a", "a-gpus", at=15.0), pod("b", shares="all", at=17.0)]
    pods += [pod("c", shares="all", at=16.0), pod("d", "d-gpus")]
    claims = [claim("a-gpus", 10.0, 14.0), claim("all", 9.0), claim("d-gpus", 11.0)]
    assert list(claim_times(pods, [*claims, claim("of-others", 1.0, 2.0)])) == [
        ClaimTimes("a-gpus", 10.0, 14.0),
        ClaimTimes("all", 9.0, 16.0),
        ClaimTimes("d-gpus", 11.0, None),
    ]
