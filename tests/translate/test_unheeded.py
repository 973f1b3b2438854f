from typing import Any

import pytest

from queueing.translate.unheeded import UNHEEDED, unheeded
from queueing_api.config.load import load
from queueing_api.config.v1beta2 import Configuration

HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def _told(text: str) -> list[str]:
    return list(unheeded(load(HEAD + text)))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("", [], id="nothing is set"),
        pytest.param("integrations: {frameworks: [batch/job]}\n", [], id="jobs"),
        pytest.param("metrics: {}\ncontroller: {}\n", [], id="empty parts"),
        pytest.param("clientConnection: {burst: 500}\n", [], id="a default that is written out"),
        pytest.param(
            "clientConnection: {qps: 50}\n",
            [f"clientConnection.qps has no effect: {UNHEEDED['clientConnection.qps']}"],
            id="a rate",
        ),
        pytest.param(
            "metrics: {localQueueMetrics: {localQueueSelector: {matchLabels: {a: b}}}}\n",
            [],
            id="a field that is honoured",
        ),
        pytest.param(
            "integrations: {frameworks: [ray.io/rayjob]}\n",
            [
                (
                    "integrations.frameworks: ray.io/rayjob has no effect:"
                    " jobs of this kind are not queued"
                ),
                "integrations.frameworks: batch/job is queued although it is not listed",
            ],
            id="another framework",
        ),
    ],
)
def test_what_has_no_effect_is_said_by_name(text: str, want: list[str]) -> None:
    assert _told(text) == want


def test_every_path_of_the_table_is_a_field() -> None:
    schema = Configuration.model_json_schema(by_alias=True)
    for path in UNHEEDED:
        fields: Any = schema
        for part in path.split("."):
            while "properties" not in fields:
                fields = fields["anyOf"][0] if "anyOf" in fields else fields
                fields = schema["$defs"][fields["$ref"].rpartition("/")[2]]
            assert part in fields["properties"], path
            fields = fields["properties"][part]
