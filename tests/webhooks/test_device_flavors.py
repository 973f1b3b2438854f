"""Selectors of a DeviceFlavor are expressions that the API server would take in a claim."""

from typing import Any

import pytest

from queueing.webhooks.device_flavors import bad_selectors


def flavor(*selectors: str, **traits: str) -> dict[str, Any]:
    request = {
        "deviceClassName": "gpu.nvidia.com",
        "selectors": [{"cel": {"expression": one}} for one in selectors],
    }
    named = {name: {"selector": one} for name, one in traits.items()}
    return {"spec": {"resources": [{"name": "gpu", "request": request, "traits": named}]}}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param(flavor("device.driver == 'x'"), "", id="an expression"),
        pytest.param(flavor("sets.contains([1], [1])"), "", id="what is not evaluated here"),
        pytest.param(
            flavor("true", "device.driver =="),
            "spec.resources[0].request.selectors[1].cel.expression: Invalid value:"
            ' "device.driver ==": syntax error at position 17: unexpected the end',
            id="half an expression",
        ),
        pytest.param(flavor("device.speed > 1"), "undefined field 'speed' of device", id="a field"),
        pytest.param(
            flavor(small="quantity('{value}').isLessThan(quantity('1Gi'))"), "", id="a value"
        ),
        pytest.param(
            flavor(small="quantity('{value}'"),
            "spec.resources[0].traits[small].selector",
            id="half a trait",
        ),
    ],
)
def test_a_selector_that_is_no_expression_is_refused(given: dict[str, Any], says: str) -> None:
    told = "\n".join(map(str, bad_selectors(given)))
    assert says in told
    assert bool(says) == bool(told)
