import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from queueing.cli.main import cli

CONFIG = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def manifests(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["manifests", *arguments])


def printed(*arguments: str) -> list[dict[str, Any]]:
    result = manifests(*arguments, "-o", "json")
    assert result.exit_code == 0, result.output
    items: list[dict[str, Any]] = json.loads(result.output)["items"]
    return items


def kinds(items: list[dict[str, Any]]) -> set[str]:
    return {one["kind"] for one in items}


POLICIES = {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}
MUTATING = {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}
WEBHOOKS = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}


@pytest.mark.parametrize(
    ("part", "want"),
    [
        pytest.param("crds", {"CustomResourceDefinition"}, id="definitions"),
        pytest.param("policies", POLICIES | MUTATING, id="policies"),
        pytest.param("webhooks", WEBHOOKS, id="webhooks"),
        pytest.param(
            "all", {"CustomResourceDefinition"} | POLICIES | MUTATING | WEBHOOKS, id="all"
        ),
    ],
)
def test_the_part_that_is_asked_for_is_printed(part: str, want: set[str]) -> None:
    assert kinds(printed("--for", part)) == want


def test_an_older_server_gets_webhooks_in_place_of_mutating_policies() -> None:
    older = printed("--kubernetes", "1.34")
    assert not kinds(older) & MUTATING
    names = {hook["name"] for one in older for hook in one.get("webhooks", ())}
    assert "mjob.kb.io" in names


def test_a_controller_that_decides_as_kueue_has_a_policy_less() -> None:
    usual, as_kueue = (
        {one["metadata"]["name"] for one in printed("--for", "policies", "--compatibility", mode)}
        for mode in ("Queueing", "Kueue")
    )
    assert usual - as_kueue == {"queueing-hand-trace"}
    assert as_kueue < usual


def test_yaml_and_json_say_the_same() -> None:
    documents = yaml.load_all(manifests("--for", "webhooks").output, Loader=yaml.CSafeLoader)
    assert list(documents) == printed("--for", "webhooks")


def test_the_configuration_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(
        CONFIG + "namespace: batch\n"
        "managedJobsNamespaceSelector: {matchLabels: {team: vision}}\n"
        "manageJobsWithoutQueueName: true\n"
        "internalCertManagement: {webhookServiceName: doorman}\n"
    )
    items = printed("--config", str(path))
    older = printed("--config", str(path), "--for", "webhooks", "--kubernetes", "1.34")
    hooks = [hook for one in older for hook in one["webhooks"]]
    for hook in hooks:
        service = hook["clientConfig"]["service"]
        assert (service["name"], service["namespace"]) == ("doorman", "batch")
    selectors = [hook["namespaceSelector"] for hook in hooks if "namespaceSelector" in hook]
    vision = {"matchExpressions": [{"key": "team", "operator": "In", "values": ["vision"]}]}
    assert selectors
    assert all(one == vision for one in selectors)
    suspends = next(
        one
        for one in items
        if one["kind"] == "MutatingAdmissionPolicy" and "suspend" in one["metadata"]["name"]
    )
    assert suspends["spec"]["matchConstraints"]["namespaceSelector"] == vision
    crd = next(one for one in items if one["kind"] == "CustomResourceDefinition")
    assert crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] == "doorman"


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        pytest.param(("--kubernetes", "1.20"), "must be 1.30 or newer", id="a server too old"),
        pytest.param(("--kubernetes", "next"), "must be 1.30 or newer", id="no version"),
        pytest.param(("--for", "everything"), "'everything' is not one of", id="no such part"),
        pytest.param(("--config", "/nowhere"), "/nowhere", id="no such file"),
    ],
)
def test_a_bad_argument_is_named(arguments: tuple[str, ...], want: str) -> None:
    result = manifests(*arguments)
    assert result.exit_code == 2
    assert want in result.stderr


def test_a_configuration_of_another_version_says_which_are_read(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(CONFIG.replace("v1beta2", "v1alpha1"))
    result = manifests("--config", str(path))
    assert result.exit_code == 2
    assert f"{path}:1: apiVersion: config.kueue.x-k8s.io/v1alpha1 is not read" in result.stderr
    assert "write config.kueue.x-k8s.io/v1beta2" in result.stderr
