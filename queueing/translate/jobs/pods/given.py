"""What the API server gives to every pod, and that nobody reads of its Workload: left out there.

Each write of a Workload costs the API server what it holds. A pod is never restored, so that its
Workload need not hold more of it than what it asks for.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

_ACCESS: Final = "kube-api-access-"
_CONTAINERS: Final = ("containers", "initContainers")
_OF_POD: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
        "schedulerName": "default-scheduler",
        "securityContext": {},
    }
)
_OF_CONTAINER: Final[Mapping[str, Any]] = MappingProxyType(
    {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
)
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def without_what_is_given(workload: bytes) -> bytes:
    """Return a Workload of pods, as JSON, without defaults and the volume of their token."""
    found = _decode(workload)
    for pod_set in found["spec"]["podSets"]:
        _strip(pod_set["template"]["spec"])
    return msgspec.json.encode(found)


def _strip(spec: dict[str, Any]) -> None:
    _drop(spec, _OF_POD)
    _drop_access(spec, "volumes")
    if spec.get("serviceAccount") == spec.get("serviceAccountName"):
        spec.pop("serviceAccount", None)  # the older name of the other one
    for container in _each(spec.get(name) for name in _CONTAINERS):
        _drop(container, _OF_CONTAINER)
        _drop_access(container, "volumeMounts")


def _drop(thing: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for name, value in defaults.items():
        if thing.get(name) == value:
            del thing[name]


def _drop_access(thing: dict[str, Any], name: str) -> None:
    found = thing.get(name)
    if found:
        kept = [one for one in found if not one["name"].startswith(_ACCESS)]
        thing[name] = kept
        if not kept:
            del thing[name]


def _each(lists: Iterable[list[dict[str, Any]] | None]) -> list[dict[str, Any]]:
    return [one for found in lists for one in found or ()]
