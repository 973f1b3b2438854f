"""Devices and expressions that both evaluators are asked about: ours, and Kubernetes' own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from queueing.devices.wire import objects as wire
from queueing.devices.wire.slices import slice_of
from queueing.translate.inbound.manifests import read

D = "dra.example.com"
A = f"device.attributes['{D}']"
C = f"device.capacity['{D}']"

DEVICES: tuple[dict[str, Any], ...] = (
    {
        "name": "h100",
        "attributes": {
            "type": {"string": "gpu"},
            "model": {"string": "NVIDIA H100 80GB"},
            "index": {"int": 3},
            "healthy": {"bool": True},
            "driverVersion": {"version": "580.126.20"},
            "resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"},
        },
        "capacity": {"memory": {"value": "80Gi"}, "engines": {"value": "2500m"}},
    },
    {
        "name": "mig",
        "attributes": {
            "type": {"string": "mig"},
            "profile": {"string": "1g.10gb"},
            "index": {"int": -1},
            "healthy": {"bool": False},
            "driverVersion": {"version": "1.2.3-beta.1"},
        },
        "capacity": {"memory": {"value": "9984Mi"}},
        "allowMultipleAllocations": True,
    },
    {"name": "bare"},
)

NOT_EVALUATED = (
    "sets.contains([1, 2], [1])",
    "b'abc' == b'abc'",
    "1u == 1u",
    "timestamp('2026-01-01T00:00:00Z') > timestamp('2025-01-01T00:00:00Z')",
    "ip('10.0.0.1').family() == 4",
    "math.greatest(1, 2) == 2",
    "'a-b'.format(['x']) == 'a-b'",
    "type(1) == int",
)
"""What Kubernetes knows and we say that we do not evaluate."""
EXPRESSIONS: tuple[str, ...] = (
    "true",
    "false",
    "device.driver == 'dra.example.com'",
    'device.driver == "other"',
    "device.driver.startsWith('dra.')",
    "device.driver.matches('^dra[.]example')",
    "device.driver.endsWith('.com') && device.driver.contains('example')",
    "device.driver.size() == 15",
    "size(device.driver) > 3",
    "device.allowMultipleAllocations",
    "!device.allowMultipleAllocations",
    "device.allowMultipleAllocations == false",
    f"{A}.type == 'gpu'",
    f"{A}.type != 'gpu'",
    f"{A}.type in ['gpu', 'mig']",
    f"!({A}.type in ['gpu'])",
    f"{A}['type'] == 'mig'",
    f"'type' in {A}",
    f"'{D}' in device.attributes",
    "'other' in device.attributes",
    "'x' in device.attributes['other']",
    "device.attributes['other'].x == 1",
    "has(device.attributes['other'].x)",
    f"has({A}.profile) && {A}.profile == '1g.10gb'",
    f"!has({A}.profile) || {A}.profile.startsWith('1g')",
    f"has({A}.type) ? {A}.type == 'gpu' : false",
    f"{A}.profile == '1g.10gb' || {A}.type == 'gpu'",
    f"{A}.type == 'gpu' || {A}.profile == '1g.10gb'",
    f"{A}.nope == 1 || true",
    f"{A}.nope == 1 && false",
    f"{A}.nope == 1 && true",
    f"false || {A}.nope",
    f"{A}.healthy",
    f"!{A}.healthy",
    f"{A}.healthy == true && {A}.index >= 0",
    f"{A}.index > 2",
    f"{A}.index + 1 == 4",
    f"{A}.index * 2 - 1 == 5",
    f"{A}.index % 2 == 1",
    f"{A}.index / 2 == 1",
    f"-{A}.index < 0",
    f"{A}.index == 3.0",
    f"{A}.index < 2.5",
    f"{A}.index == '3'",
    f"{A}.index < '3'",
    f"{A}.type < 'h'",
    f"{A}.type + 'x' == 'gpux'",
    f"{A}.type",
    f"{A}.model.contains('H100')",
    f"{A}.model.lowerAscii().contains('h100')",
    f"{A}.model.upperAscii() == 'NVIDIA H100 80GB'",
    f"{A}.model.split(' ')[1] == 'H100'",
    f"{A}.model.split(' ').size() == 3",
    f"{A}.model.split(' ')[7] == 'x'",
    f"{A}.model.split(' ').exists(one, one == 'H100')",
    f"{A}.model.split(' ').all(one, one.size() > 3)",
    f"{A}.model.split(' ').exists_one(one, one.startsWith('N'))",
    f"{A}.model.split(' ').map(one, one.lowerAscii()).join('-') == 'nvidia-h100-80gb'",
    f"{A}.model.split(' ').filter(one, one.matches('[0-9]+')).size() == 2",
    f"{A}.model.replace('80', '94') == 'NVIDIA H100 94GB'",
    f"{A}.model.substring(7) == 'H100 80GB'",
    f"{A}.model.substring(7, 11) == 'H100'",
    f"{A}.model.substring(70) == 'H100'",
    f"{A}.model.indexOf('H') == 7",
    f"{A}.model.charAt(0) == 'N'",
    f"('  ' + {A}.type + ' ').trim() == 'gpu'",
    f"{A}.exists(key, key == 'profile')",
    f"{A}.all(key, key != 'nope')",
    f"{A}.driverVersion.isGreaterThan(semver('1.0.0'))",
    f"{A}.driverVersion.compareTo(semver('580.126.20')) == 0",
    f"{A}.driverVersion.compareTo(semver('1.2.3')) < 0",
    f"{A}.driverVersion.isLessThan(semver('v600', true))",
    f"{A}.driverVersion == semver('580.126.20')",
    f"{A}.driverVersion.major() == 580 && {A}.driverVersion.minor() == 126",
    f"{A}.driverVersion.isGreaterThan(semver('nonsense'))",
    "isSemver('1.2.3') && !isSemver('1.2')",
    "isSemver('1.2', true)",
    "isSemver('01.2.3')",
    "semver('1.2.3-alpha.2').isLessThan(semver('1.2.3-alpha.10'))",
    "semver('1.2.3-alpha').isGreaterThan(semver('1.2.3-1'))",
    "semver('1.2.3+a') == semver('1.2.3+b')",
    f"{C}.memory.compareTo(quantity('80Gi')) >= 0",
    f"{C}.memory.isGreaterThan(quantity('10Gi'))",
    f"{C}.memory.isLessThan(quantity('10Gi'))",
    f"{C}.memory == quantity('81920Mi')",
    f"{C}.memory.asInteger() > 80000000000",
    f"{C}.memory.add(quantity('1Gi')).compareTo(quantity('81Gi')) == 0",
    f"{C}.memory.sub(quantity('80Gi')) == quantity('0')",
    f"{C}.engines.isInteger()",
    f"{C}.engines.asInteger() == 2",
    f"{C}.engines.asApproximateFloat() == 2.5",
    f"{C}.memory.compareTo(quantity('80 GB')) >= 0",
    "isQuantity('80Gi') && !isQuantity('80 GB')",
    f"has({C}.memory)",
    f"'memory' in {C}",
    f"{C}.nope.compareTo(quantity('1')) > 0",
    f"{C}.memory > 5",
    "device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:00'",
    f"cel.bind(own, {A}, own.type == 'gpu' && own.index == 3)",
    f"{A}.?profile.orValue('none') == 'none'",
    f"{A}[?'profile'].hasValue()",
    f"{A}.?profile.value() == '1g.10gb'",
    "[1, 2, 3].exists(one, one == 2)",
    "{'a': 1}.a == 1 && 'a' in {'a': 1}",
    "[1, 2] + [3] == [1, 2, 3]",
    "[1, 2].size() == 2 && {'a': 1}.size() == 1",
    "1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2",
    "1 / 0 == 1",
    "9223372036854775807 + 1 > 0",
    "9223372036854775808 > 0",
    "0x10 == 16",
    "1.5e3 == 1500.0",
    "dyn(1) == 1.0",
    "int('7') == 7",
    "int('x') == 7",
    "string(7) == '7'",
    "bool('true')",
    "double(2) == 2.0",
    "r'a\\d' == 'a\\\\d'",
    "'\\u0041\\x42\\103' == 'ABC'",
    "'''it's''' == \"it's\"",
    "true ? false : true",
    "true || false && false",
    "!true == false",
    "(1 + 2) * 3 == 9",
    "// a comment\ntrue",
    "true &&",
    "'unclosed",
    "device",
    "device.driver",
    "device.nope",
    "nope == 1",
    "1 + 1",
    "'text'",
    "has(device)",
    "true ? 1 : 2",
    "if == 1",
    "1 == 1 == true",
    "null == null",
    "[1, 2].sum() == 3",
    "duration('1h') > duration('1m')",
    *NOT_EVALUATED,
)


ANSWERS = Path(__file__).parent / "selector_answers.txt"
"""What Kubernetes answers to each expression, a word per device."""


RANDOM_ANSWERS = Path(__file__).parent / "random_selector_answers.txt"
"""The same of expressions that `random_selectors` made, of which none has an error of type."""


def answers(path: Path = ANSWERS) -> dict[str, list[str]]:
    """Read what Kubernetes answers, by expression; a line break in one is spelled."""
    rows = (line.split(None, len(DEVICES)) for line in path.read_text().splitlines())
    return {json.loads(row[-1]): row[:-1] for row in rows}


def questions(
    expressions: Iterable[str] = EXPRESSIONS,
) -> list[tuple[str, dict[str, Any]]]:
    """Return every expression with every device."""
    return [(expression, device) for expression in expressions for device in DEVICES]


def as_line(expression: str, device: dict[str, Any]) -> str:
    """Spell a question as Kubernetes' evaluator is asked it."""
    return json.dumps(
        {
            "expression": expression,
            "driver": D,
            "shared": device.get("allowMultipleAllocations", False),
            "attributes": device.get("attributes", {}),
            "capacity": device.get("capacity", {}),
        }
    )


def variables(device: dict[str, Any]) -> Any:
    """Return a device as our evaluator sees it."""
    spec = {"driver": D, "nodeName": "n", "pool": {"name": "n"}, "devices": [device]}
    found = slice_of(read(wire.ResourceSlice, {"metadata": {"name": "s"}, "spec": spec}))
    return found.devices[0].variables
