import pytest

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.wire.protobuf import MAGIC, from_protobuf


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    about = field(1, api_version.encode()) + field(2, kind.encode())
    return MAGIC + field(1, about) + field(2, raw)


def test_a_config_map_is_read() -> None:
    metadata = field(1, b"c") + field(2, b"") + field(8, b"")
    entry = field(1, b"a") + field(2, b"b")
    made = from_protobuf(envelope("v1", "ConfigMap", field(1, metadata) + field(2, entry)))
    assert made == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"a": "b"},
    }


def test_a_role_binding_is_read() -> None:
    role = field(1, b"rbac.authorization.k8s.io") + field(2, b"ClusterRole") + field(3, b"r")
    subject = field(1, b"ServiceAccount") + field(3, b"training") + field(4, b"team")
    raw = field(1, field(1, b"b")) + field(2, subject) + field(3, role)
    made = from_protobuf(envelope("rbac.authorization.k8s.io/v1", "RoleBinding", raw))
    assert made["subjects"] == [{"kind": "ServiceAccount", "name": "training", "namespace": "team"}]
    assert made["roleRef"]["name"] == "r"


def test_zeros_that_mean_something_are_kept() -> None:
    spec = field(1, 0) + field(10, 1) + field(5, 0)
    made = from_protobuf(envelope("batch/v1", "Job", field(2, spec)))
    assert made["spec"] == {"parallelism": 0, "suspend": True}


def test_an_unknown_kind_asks_for_json() -> None:
    with pytest.raises(ApiFailure, match="send JSON"):
        from_protobuf(envelope("v1", "Nothing", b""))
