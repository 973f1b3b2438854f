"""The role of a pod in its group: a digest of what its quota and its placement depend on.

It is Kueue's, to the digit: eight hex digits of the SHA-256 of the shape as JSON, with sorted names
and nothing left out. What the API server tells is spelled as Go spells it, so it is taken as it is.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from queueing.translate.wire.meta import Wire

_DIGITS = 8
_NULL = msgspec.Raw(b"null")


class _Resources(Wire, frozen=True):
    requests: msgspec.Raw = _NULL


class _Container(Wire, frozen=True):
    ports: msgspec.Raw = _NULL
    resources: _Resources = _Resources()


class _Shape(Wire, frozen=True):
    affinity: msgspec.Raw = _NULL
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None
    node_selector: msgspec.Raw = _NULL
    overhead: msgspec.Raw = _NULL
    priority: msgspec.Raw = _NULL
    resource_claims: msgspec.Raw = _NULL
    resources: _Resources | None = None
    runtime_class_name: msgspec.Raw = _NULL
    tolerations: msgspec.Raw = _NULL
    topology_spread_constraints: msgspec.Raw = _NULL


class _Template(Wire, frozen=True):
    spec: _Shape


_templates = msgspec.json.Decoder(_Template)


def role_hash(template: msgspec.Raw) -> str:
    """Return the role of pods with this template, given as JSON."""
    shape = _templates.decode(template).spec
    text = b'{"spec":{%b}}' % b",".join(_members(shape))
    return sha256(text).hexdigest()[:_DIGITS]


def _members(shape: _Shape) -> Iterator[bytes]:
    """Yield the members of the shape, sorted by their names."""
    yield _member("affinity", shape.affinity)
    yield _member("containers", _listed(shape.containers))
    yield _member("initContainers", _listed(shape.init_containers))
    yield _member("nodeSelector", shape.node_selector)
    yield _member("overhead", shape.overhead)
    yield _member("priority", shape.priority)
    yield _member("resourceClaims", shape.resource_claims)
    if shape.resources is not None:
        yield _member("resources", shape.resources.requests)
    yield _member("runtimeClassName", shape.runtime_class_name)
    yield _member("tolerations", shape.tolerations)
    yield _member("topologySpreadConstraints", shape.topology_spread_constraints)


def _member(name: str, value: msgspec.Raw | bytes) -> bytes:
    return b'"%b":%b' % (name.encode(), bytes(value))


def _listed(found: Iterable[_Container] | None) -> bytes:
    if not found:
        return b"null"
    each = (
        b'{"ports":%b,"resources":{"requests":%b}}'
        % (bytes(one.ports), bytes(one.resources.requests))
        for one in found
    )
    return b"[%b]" % b",".join(each)
