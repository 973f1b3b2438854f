from typing import Any

from queueing.core.names import Key
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import WORKLOAD_UID
from queueing.translate.inbound.manifests import read
from tests.devices.fleet import device_class, device_flavor


def memory() -> DeviceMemory:
    made = DeviceMemory()
    made.flavors["h100"] = read(wire.DeviceFlavor, device_flavor())
    made.classes["gpu"] = read(wire.DeviceClass, device_class())
    made.join_rules()
    return made


def meta(name: str, namespace: str, workload: str = "") -> dict[str, Any]:
    labels = {WORKLOAD_UID: workload} if workload else {}
    return {"name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels}


def template(*of: str) -> wire.ResourceClaimTemplate:
    document = {"metadata": meta(*of), "spec": {"spec": {"devices": {"requests": []}}}}
    return read(wire.ResourceClaimTemplate, document)


def claim(*of: str) -> wire.ResourceClaim:
    return read(wire.ResourceClaim, {"metadata": meta(*of), "spec": {"devices": {}}})


def test_surroundings_are_the_templates_and_claims_of_a_namespaces_users() -> None:
    known = memory()
    known.put_template(template("mine", "team"))
    known.put_template(template("other", "others"))
    known.put_template(template("made", "team", "w-1"))
    known.put_claim(claim("shared", "team"))
    known.put_claim(claim("held", "team", "w-1"))
    around = known.surroundings("team")
    assert (set(around.templates), set(around.claims)) == ({"mine"}, {"shared"})
    assert [one.metadata.name for one in known.templates_of("w-1")] == ["made"]


def test_surroundings_are_the_same_until_something_of_a_user_changes() -> None:
    known = memory()
    known.put_template(template("mine", "team"))
    before = known.surroundings("team")
    known.put_template(template("made", "team", "w-1"))
    known.put_claim(claim("elsewhere", "others"))
    assert known.surroundings("team") is before
    known.put_claim(claim("shared", "team"))
    assert set(known.surroundings("team").claims) == {"shared"}
    known.drop_claim(Key("team/shared"))
    known.drop_template(Key("team/mine"))
    around = known.surroundings("team")
    assert not around.templates
    assert not around.claims


def test_surroundings_follow_the_rules() -> None:
    known = memory()
    before = known.surroundings("team")
    known.flavors.clear()
    known.join_rules()
    after = known.surroundings("team")
    assert after.catalog is known.catalog
    assert after.catalog is not before.catalog
