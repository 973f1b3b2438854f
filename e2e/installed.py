"""The product as one command installs it, run outside the cluster under the installed roles.

No Service leads to a process of this machine, so the installed ones become names of it, and what
calls them gets the ports that the process listens on. Certificates, trust, webhooks, conversion and
aggregation are as in production.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from e2e.api import Api, holds
from e2e.cluster import Cluster
from e2e.identities import CONTROLLER_NAMESPACE
from e2e.product import CONFIG, Controller, manifests, start
from e2e.wire import Object

DEFAULT = CONFIG / "default"
EXPLANATIONS = "v1alpha1.visibility.queueing.dev"
AGGREGATED = (
    "v1beta1.visibility.kueue.x-k8s.io",
    "v1beta2.visibility.kueue.x-k8s.io",
    EXPLANATIONS,
)
SERVICES = ("kueue-webhook-service", "kueue-visibility-server")
REGISTRATION = "admissionregistration.k8s.io/v1"
WEBHOOKS = (
    (f"{REGISTRATION}/MutatingWebhookConfiguration", "kueue-mutating-webhook-configuration"),
    (f"{REGISTRATION}/ValidatingWebhookConfiguration", "kueue-validating-webhook-configuration"),
)
API_SERVICE = "apiregistration.k8s.io/v1/APIService"
SERVED_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A cluster with the product on it, and one replica that is ready."""

    cluster: Cluster
    took_s: float
    """How long the one command took."""
    said: str
    controller: Controller
    settings: Object
    """The Configuration of the replica, with the ports that it listens on."""

    @property
    def api(self) -> Api:
        return self.cluster.api()


def apply_all(cluster: Cluster) -> tuple[float, str]:
    """Install with one command; return how long it took and what it said."""
    before = time.monotonic()
    done = cluster.kubectl("apply", "--server-side", "-k", str(DEFAULT))
    assert done.returncode == 0, done.stderr
    return time.monotonic() - before, done.stdout


@contextmanager
def installation(cluster: Cluster, ours: Mapping[str, Any] | None = None) -> Iterator[Installation]:
    """Install on an empty cluster and run one replica; `ours` are settings of our own file."""
    took_s, said = apply_all(cluster)
    controller = start(cluster, "installed", ours=ours)
    try:
        settings = yaml.safe_load((cluster.folder / "installed.yaml").read_text())
        lead_here(cluster.api(), settings)
        controller.wait_ready()
        cluster.api().wait(
            "CustomResourceDefinition", _all_established, timeout_s=SERVED_S, what="CRDs served"
        )
        yield Installation(
            cluster=cluster, took_s=took_s, said=said, controller=controller, settings=settings
        )
    finally:
        controller.stop()


def lead_here(api: Api, settings: Object) -> None:
    """Let what the installation calls be this machine."""
    webhook, visibility = settings["webhook"]["port"], settings["visibilityServer"]["bindPort"]
    elsewhere = {"type": "ExternalName", "externalName": "localhost"}
    cleared = dict.fromkeys(("clusterIP", "clusterIPs", "selector", "ports", "ipFamilies"))
    for name in SERVICES:
        spec = {**elsewhere, **cleared, "ipFamilyPolicy": None, "internalTrafficPolicy": None}
        api.patch("Service", name, {"spec": spec}, namespace=CONTROLLER_NAMESPACE)
    for kind, name in WEBHOOKS:
        count = len(api.get(kind, name)["webhooks"])
        paths = [f"/webhooks/{index}/clientConfig/service/port" for index in range(count)]
        api.patch(kind, name, [{"op": "add", "path": path, "value": webhook} for path in paths])
    converted = "kueue.x-k8s.io"
    for item in api.items("CustomResourceDefinition"):
        if item["spec"]["group"] != converted:
            continue
        path = "/spec/conversion/webhook/clientConfig/service/port"
        change = [{"op": "add", "path": path, "value": webhook}]
        api.patch("CustomResourceDefinition", item["metadata"]["name"], change)
    for name in AGGREGATED:
        api.patch(API_SERVICE, name, {"spec": {"service": {"port": visibility}}})


def _all_established(definitions: list[Object]) -> bool:
    wanted = {item["metadata"]["name"] for item in manifests("crd")}
    served = {one["metadata"]["name"] for one in definitions if holds(one, "Established")}
    return wanted <= served
