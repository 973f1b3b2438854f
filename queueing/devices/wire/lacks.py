"""Which claims of users' own the devices of the whole cluster are too few for, in any flavor.

Only for classes of `deviceClassMappings`, where Kueue asks the same. What counts by a DeviceFlavor
is told flavor by flavor (`offers`).
"""

from collections.abc import Iterator
from dataclasses import replace

from queueing.core.selectors import Toleration
from queueing.devices.rules.index import DeviceIndex
from queueing.devices.rules.matching import candidates
from queueing.devices.rules.messages import insufficient
from queueing.devices.rules.requests import DeviceRequest, Way
from queueing.devices.wire.catalog import DeviceCatalog
from queueing.devices.wire.claim_specs import claim_of
from queueing.devices.wire.offers import DeviceShape, is_only_counted

_WHATEVER_TAINTS = (Toleration(operator="Exists"),)


def lack(shape: DeviceShape, catalog: DeviceCatalog, index: DeviceIndex) -> str:
    """Return why no flavor can ever serve a shape as the cluster is now; empty if one may."""
    if not shape.bound or is_only_counted(shape, catalog, index):
        return ""
    claims = (
        claim_of(one.spec) for one in shape.bound if one.spec is not None and not one.extended
    )
    lacks = (
        told
        for claim in claims
        for request in claim.requests
        for told in _lack(request, catalog, index)
    )
    return next(lacks, "")


def _lack(request: DeviceRequest, catalog: DeviceCatalog, index: DeviceIndex) -> Iterator[str]:
    """Yield what the first way of a request lacks, if all of its ways lack devices."""
    told = [_lack_of(way, catalog, index) for way in request.ways]
    if told and all(told):
        yield told[0]


def _lack_of(way: Way, catalog: DeviceCatalog, index: DeviceIndex) -> str:
    rule = catalog.rules.get(way.device_class)
    if rule is None or not rule.mapped or way.admin or not way.count:
        return ""
    # Selectors alone decide: taints and capacities are lacks of a flavor, as devices may change.
    plain = replace(way, capacity={}, tolerations=_WHATEVER_TAINTS)
    found = candidates(plain, index.on({}), catalog.classes)
    devices = found.devices
    if found.refusal is not None or len(devices) >= way.count or any(one.shared for one in devices):
        return ""
    return insufficient(way.device_class, len(devices), way.count)
