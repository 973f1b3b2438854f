"""The Helm chart: checked, rendered by the names of Kueue's values, asked of a real server."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.cluster import Cluster
from e2e.controlplane.build import KUBERNETES, helm
from e2e.installed import DEFAULT
from e2e.wire import Object
from queueing.observe.monitoring.alerts import ALERTS
from queueing.observe.monitoring.dashboards import DASHBOARDS

ROOT = Path(__file__).parent.parent
CHART = ROOT / "dist" / "chart"
NAMESPACE = "kueue-system"
BOUND_S = 120.0
Rendered = Mapping[tuple[str, str], Object]


def said(*command: str, stdin: str = "") -> str:
    """Run a program to its end; return what it said."""
    done = subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def program() -> str:
    return helm()


@pytest.fixture(scope="module")
def chart() -> Path:
    """Assemble the chart as a release does."""
    said("make", "chart")
    return CHART


def template(program: str, values: Mapping[str, Any], namespace: str = NAMESPACE) -> str:
    flags = (f"--namespace={namespace}", f"--kube-version={KUBERNETES}", "--values=-")
    return said(program, "template", "kueue", str(CHART), *flags, stdin=json.dumps(values))


def rendered(program: str, values: Mapping[str, Any]) -> Rendered:
    text = template(program, values)
    items = [one for one in yaml.safe_load_all(text) if one]
    found = {(one["kind"], one["metadata"]["name"]): one for one in items}
    assert len(found) == len(items), "one object is rendered twice"
    return found


def pod(found: Rendered) -> Object:
    return dict(found["Deployment", "kueue-controller-manager"]["spec"]["template"]["spec"])


def manager(found: Rendered) -> Object:
    return dict(pod(found)["containers"][0])


def config(found: Rendered) -> str:
    return str(found["ConfigMap", "kueue-manager-config"]["data"]["controller_manager_config.yaml"])


def own_config(found: Rendered) -> str:
    return str(found["ConfigMap", "kueue-manager-config"]["data"]["queueing_config.yaml"])


def gates(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "enabled": True} for name in names]


def test_the_chart_is_well_made(program: str, chart: Path) -> None:
    assert "0 chart(s) failed" in said(program, "lint", "--strict", str(chart))


def test_the_chart_installs_what_the_one_command_installs(
    program: str, chart: Path, installed: Cluster
) -> None:
    shown = installed.kubectl("kustomize", str(DEFAULT))
    assert shown.returncode == 0, shown.stderr
    wanted = {(one["kind"], one["metadata"]["name"]) for one in yaml.safe_load_all(shown.stdout)}
    assert rendered(program, {}).keys() == wanted - {("Namespace", NAMESPACE)}


def test_a_real_server_takes_everything(program: str, chart: Path, installed: Cluster) -> None:
    text = "\n---\n".join(yaml.safe_dump(one) for one in rendered(program, {}).values())
    done = installed.kubectl(
        "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", "-", stdin=text
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == text.count("\n---\n") + 1


@pytest.mark.parametrize(
    ("values", "shown", "want"),
    [
        pytest.param(
            {"controllerManager": {"replicas": 3}},
            lambda found: found["Deployment", "kueue-controller-manager"]["spec"]["replicas"],
            3,
            id="controllerManager.replicas",
        ),
        pytest.param(
            {"controllerManager": {"featureGates": gates("PriorityBoost", "TASProfileMixed")}},
            lambda found: manager(found)["args"][-1],
            "--feature-gates=PriorityBoost=true,TASProfileMixed=true",
            id="controllerManager.featureGates",
        ),
        pytest.param(
            {"queueingConfig": {"compatibility": "Kueue"}},
            lambda found: (
                manager(found)["args"][-1],
                yaml.safe_load(own_config(found))["compatibility"],
            ),
            ("--queueing-config=/etc/queueing/queueing_config.yaml", "Kueue"),
            id="queueingConfig",
        ),
        pytest.param(
            {"queueingConfig": {"checkpointDrivers": ["Annotation", "Exec"]}},
            lambda found: found["ClusterRole", "kueue-manager-exec-role"]["rules"][0]["resources"],
            ["pods/exec"],
            id="queueingConfig.checkpointDrivers",
        ),
        pytest.param(
            {"controllerManager": {"manager": {"image": {"repository": "here/q", "tag": "v9"}}}},
            lambda found: manager(found)["image"],
            "here/q:v9",
            id="controllerManager.manager.image",
        ),
        pytest.param(
            {"controllerManager": {"manager": {"resources": {"limits": {"cpu": "4"}}}}},
            lambda found: manager(found)["resources"]["limits"]["cpu"],
            "4",
            id="controllerManager.manager.resources",
        ),
        pytest.param(
            {"controllerManager": {"manager": {"priorityClassName": "system-cluster-critical"}}},
            lambda found: pod(found)["priorityClassName"],
            "system-cluster-critical",
            id="controllerManager.manager.priorityClassName",
        ),
        pytest.param(
            {"controllerManager": {"livenessProbe": {"periodSeconds": 7}}},
            lambda found: manager(found)["livenessProbe"]["periodSeconds"],
            7,
            id="controllerManager.livenessProbe",
        ),
        pytest.param(
            {"controllerManager": {"nodeSelector": {"pool": "system"}}},
            lambda found: pod(found)["nodeSelector"],
            {"pool": "system"},
            id="controllerManager.nodeSelector",
        ),
        pytest.param(
            {"controllerManager": {"tolerations": [{"operator": "Exists"}]}},
            lambda found: pod(found)["tolerations"],
            [{"operator": "Exists"}],
            id="controllerManager.tolerations",
        ),
        pytest.param(
            {"controllerManager": {"imagePullSecrets": [{"name": "pull"}]}},
            lambda found: pod(found)["imagePullSecrets"],
            [{"name": "pull"}],
            id="controllerManager.imagePullSecrets",
        ),
        pytest.param(
            {"controllerManager": {"podDisruptionBudget": {"enabled": True, "minAvailable": 1}}},
            lambda found: found["PodDisruptionBudget", "kueue-controller-manager"]["spec"][
                "minAvailable"
            ],
            1,
            id="controllerManager.podDisruptionBudget",
        ),
        pytest.param(
            {"managerConfig": {"controllerManagerConfigYaml": "kind: Configuration\n"}},
            config,
            "kind: Configuration\n",
            id="managerConfig.controllerManagerConfigYaml",
        ),
        pytest.param(
            {"enableVisibilityAPF": False},
            lambda found: [name for kind, name in found if kind == "FlowSchema"],
            [],
            id="enableVisibilityAPF",
        ),
        pytest.param(
            {"enableCertManager": True},
            lambda found: found["Certificate", "kueue-serving-cert"]["spec"]["secretName"],
            "kueue-webhook-server-cert",
            id="enableCertManager",
        ),
        pytest.param(
            {"enablePrometheus": True},
            lambda found: found["ServiceMonitor", "kueue-controller-manager-metrics-monitor"][
                "spec"
            ]["endpoints"][0]["path"],
            "/metrics",
            id="enablePrometheus",
        ),
        pytest.param(
            {"enablePrometheus": True},
            lambda found: [
                one["alert"]
                for one in found["PrometheusRule", "kueue-controller-manager-alerts"]["spec"][
                    "groups"
                ][0]["rules"]
            ],
            [one.name for one in ALERTS],
            id="enablePrometheus, its alerts",
        ),
        pytest.param(
            {"enableDashboards": True},
            lambda found: {
                json.loads(text)["uid"]
                for text in found["ConfigMap", "queueing-dashboards"]["data"].values()
            },
            {one.uid for one in DASHBOARDS},
            id="enableDashboards",
        ),
        pytest.param(
            {"metricsService": {"type": "NodePort"}},
            lambda found: found["Service", "kueue-controller-manager-metrics-service"]["spec"][
                "type"
            ],
            "NodePort",
            id="metricsService.type",
        ),
    ],
)
def test_a_value_of_kueues_chart_does_what_it_does_there(
    program: str, chart: Path, values: Object, shown: Callable[[Rendered], Any], want: Any
) -> None:
    assert shown(rendered(program, values)) == want


def test_another_namespace_is_used_everywhere(program: str, chart: Path) -> None:
    text = template(program, {}, "batch-system")
    assert NAMESPACE not in text
    assert "batch-system" in text
