"""Names that scripts and tests look for."""

import pytest
import yaml

from e2e.identities import CONTROLLER_NAMESPACE
from e2e.installed import Installation
from e2e.tools.asking import asked

ROLES = (
    "manager-role",
    "metrics-auth-role",
    "metrics-reader",
    "batch-admin-role",
    "batch-user-role",
    "pending-workloads-cq-viewer-role",
    "pending-workloads-lq-viewer-role",
    *(
        f"{kind}-{role}-role"
        for kind in ("clusterqueue", "cohort", "localqueue", "resourceflavor", "workload", "job")
        for role in ("editor", "viewer")
    ),
)


class TestNames:
    """Names that scripts and tests look for."""

    def test_the_deployment(self, place: Installation) -> None:
        found = place.api.get("Deployment", "kueue-controller-manager", CONTROLLER_NAMESPACE)
        marks = {
            "control-plane": "controller-manager",
            "app.kubernetes.io/name": "kueue",
            "app.kubernetes.io/component": "controller",
        }
        assert found["metadata"]["labels"].items() >= marks.items()
        assert found["spec"]["template"]["metadata"]["labels"].items() >= marks.items()
        assert found["spec"]["selector"]["matchLabels"] == {"control-plane": "controller-manager"}
        assert [one["name"] for one in found["spec"]["template"]["spec"]["containers"]] == [
            "manager"
        ]

    def test_the_configuration(self, place: Installation) -> None:
        found = place.api.get("ConfigMap", "kueue-manager-config", CONTROLLER_NAMESPACE)
        held = yaml.safe_load(found["data"]["controller_manager_config.yaml"])
        assert held["kind"] == "Configuration"

    @pytest.mark.parametrize(
        ("name", "port"),
        [
            ("kueue-controller-manager-metrics-service", 8443),
            ("kueue-visibility-server", 443),
            ("kueue-webhook-service", 443),
        ],
    )
    def test_a_service(self, place: Installation, name: str, port: int) -> None:
        (found,) = [
            one
            for one in asked(place, "GET", f"/api/v1/namespaces/{CONTROLLER_NAMESPACE}/services")[
                "items"
            ]
            if one["metadata"]["name"] == name
        ]
        assert found["metadata"]["labels"]["app.kubernetes.io/name"] == "kueue"
        ports = [one["port"] for one in found["spec"].get("ports", ())]
        assert ports in ([port], []), "those that lead to this machine have no ports"

    @pytest.mark.parametrize("role", ROLES)
    def test_a_role(self, place: Installation, role: str) -> None:
        found = asked(place, "GET", f"/apis/rbac.authorization.k8s.io/v1/clusterroles/kueue-{role}")
        assert found["rules"]
