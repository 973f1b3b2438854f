from typing import Any

import msgspec
import pytest

from queueing.translate.checkpoints import inbound, wire
from tests.translate.checkpoints.policy_cases import each_case


def read(**spec: Any) -> None:
    text = msgspec.json.encode({"driver": "Annotation", **spec})
    inbound.terms(msgspec.json.decode(text, type=wire.Terms))


@each_case
def test_terms_that_contradict_themselves_are_not_used(spec: dict[str, Any], said: str) -> None:
    with pytest.raises(inbound.BadTermsError) as refused:
        read(**spec)
    assert said in str(refused.value)
    assert str(refused.value).startswith("spec.")


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="nothing but a driver"),
        pytest.param({"driver": "HTTP", "http": {"port": 80}}, id="a port"),
        pytest.param({"driver": "Job", "job": {"template": {}}}, id="a Job"),
        pytest.param({"driver": "Exec", "exec": {"command": ["save"]}}, id="a command"),
        pytest.param({"saveDeadline": "24h", "saveDeadlineMax": "24h"}, id="a whole day"),
    ],
)
def test_terms_that_can_be_met_are_used(spec: dict[str, Any]) -> None:
    read(**spec)
