"""Rules of DeviceFlavor."""

from typing import Final

from queueing_api.crd.rules.rule import Rule

_ONE: Final = "spec.resources[]"
_PLAIN: Final = "self.strategy in ['Native', 'Class']"
DEVICE_FLAVOR: Final = (
    Rule(
        "spec.resources[].charge",
        "self.type == 'Devices' ? !has(self.name) || self.name == ''"
        " : has(self.name) && self.name != ''",
        "name must be set with type Counter or Capacity, and with no other",
        field=".name",
    ),
    Rule(
        "spec.resources[].charge",
        "!has(self.allMatching) || self.type == 'Devices'",
        "allMatching counts devices: it needs type Devices",
        field=".allMatching",
    ),
    Rule(
        _ONE,
        "self.strategy == 'Native' || has(self.request) && has(self.request.deviceClassName)"
        " && self.request.deviceClassName != ''",
        "request.deviceClassName must be set unless strategy is Native",
        field=".request",
    ),
    Rule(
        _ONE,
        f"!({_PLAIN}) || !has(self.request) || (!has(self.request.selectors)"
        " && !has(self.request.tolerations) && !has(self.request.capacityPerUnit))",
        "strategies Native and Class can express a class only: put selectors into the DeviceClass,"
        " or use Inject",
        field=".request",
    ),
    Rule(
        _ONE,
        f"!({_PLAIN}) || (!has(self.traits) && !has(self.config))",
        "strategies Native and Class can express neither traits nor config",
        field=".strategy",
    ),
    Rule(
        _ONE,
        "!has(self.sharing) || self.sharing == 'None' || self.strategy == 'Inject'",
        "sharing PerPodSet needs strategy Inject",
        field=".sharing",
    ),
    Rule(
        _ONE,
        "!has(self.computeDomain) || self.strategy == 'Inject'",
        "a ComputeDomain needs strategy Inject: its channel is given to pods",
        field=".computeDomain",
    ),
    Rule(
        "spec.resources[].traits{}",
        "[has(self.selector) && self.selector != '', has(self.matchAttribute)"
        " && self.matchAttribute != '', has(self.distinctAttribute)"
        " && self.distinctAttribute != ''].filter(one, one).size() == 1",
        "exactly one of selector, matchAttribute and distinctAttribute must be set",
    ),
)
