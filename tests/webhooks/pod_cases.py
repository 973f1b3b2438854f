"""Pods whose devices come by claims: one table for the policy and the webhook."""

import copy
from collections.abc import Mapping
from typing import Any

import jsonpatch
import pytest

from queueing.webhooks import pods
from queueing.webhooks.findings import Wire
from queueing.webhooks.policies.claims import CLAIMS
from queueing.webhooks.rules import patches_of

GPU, NIC = "nvidia.com/gpu", "example.com/nic"
BOTH = f"{GPU},{NIC}"


def container(name: str, devices: Mapping[str, str], **more: Any) -> Wire:
    """Return a container that asks for a core and these devices."""
    amounts = {"cpu": "1", **devices}
    resources = {"requests": dict(amounts), "limits": dict(amounts), **more}
    return {"name": name, "image": "registry.k8s.io/pause:3.10", "resources": resources}


def sidecar(name: str, devices: Mapping[str, str]) -> Wire:
    """Return an init container that runs beside the others."""
    return {**container(name, devices), "restartPolicy": "Always"}


def pod(
    containers: list[Wire], resources: str = GPU, notes: Wire | None = None, **spec: Any
) -> Wire:
    """Return a pod as the Job controller would make it of a template that was admitted."""
    annotations = {pods.TEMPLATE: "kq-a,kq-b"} if notes is None else notes
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "probe",
            "labels": {pods.INJECT: "true"},
            "annotations": {**annotations, pods.RESOURCES: resources},
        },
        "spec": {
            "restartPolicy": "Never",
            "schedulingGates": [{"name": pods.GATE}],
            "containers": containers,
            **spec,
        },
    }


def rewritten(asked: Wire) -> Wire:
    """Return a pod as it is created by whoever patches it; an empty list is none at all."""
    made: Wire = jsonpatch.apply_patch(copy.deepcopy(asked), patches_of(CLAIMS, asked))
    gates = {} if made["spec"].get("schedulingGates") else {"schedulingGates"}
    return {**made, "spec": {key: one for key, one in made["spec"].items() if key not in gates}}


def unlabelled() -> Wire:
    """Return a pod that no admission labelled."""
    made = pod([container("a", {GPU: "1"})])
    del made["metadata"]["labels"]
    return made


ONE = [container("a", {GPU: "1"})]
TWO = [container("a", {GPU: "1", NIC: "1"})]
OWN = [{"name": "own", "resourceClaimTemplateName": "mine"}]
TAKEN = [{"name": pods.CLAIM, "resourceClaimTemplateName": "foreign"}]
OTHER_GATE = [{"name": "example.com/other"}, {"name": pods.GATE}]
SHARED = {pods.SHARED: "shared-a,shared-b"}
_PLAIN = [
    pytest.param(pod([container("a", {GPU: "4"})]), id="one-container"),
    pytest.param(
        pod([container("sidecar", {}), container("train", {GPU: "4"})]), id="a-sidecar-without"
    ),
    pytest.param(pod([container("a", {GPU: "1"}), container("b", {GPU: "2"})]), id="both"),
    pytest.param(pod([container("a", {GPU: "1", NIC: "2"})], BOTH), id="two-resources"),
    pytest.param(
        pod([container("a", {GPU: "1"}), container("b", {NIC: "2"})], BOTH), id="one-each"
    ),
    pytest.param(
        pod([container("a", {GPU: "1"}, claims=[{"name": "own"}])], resourceClaims=OWN),
        id="beside-claims-of-its-own",
    ),
    pytest.param(pod(ONE, schedulingGates=OTHER_GATE), id="another-gate-stays"),
    pytest.param(pod([container("a", {})]), id="nothing-asked"),
    pytest.param(pod([container("a", {GPU: "0"})]), id="none-asked"),
    pytest.param(pod(TWO, BOTH, SHARED), id="shared-claims"),
    pytest.param(pod(TWO, BOTH, {**SHARED, pods.TEMPLATE: ",kq-b"}), id="the-first-is-shared"),
    pytest.param(pod(TWO, BOTH, {**SHARED, pods.TEMPLATE: "kq-a"}), id="the-second-is-shared"),
]
INIT_PODS: Mapping[str, Wire] = {
    "an-init-container-uses-devices-of-a-container": pod(
        [container("a", {GPU: "1"}), container("b", {GPU: "2"})],
        initContainers=[container("check", {GPU: "2"})],
    ),
    "init-containers-only": pod(
        [container("a", {})],
        initContainers=[container("one", {GPU: "2"}), container("two", {GPU: "2"})],
    ),
    "a-sidecar-has-devices-of-its-own": pod(
        [container("a", {GPU: "2"})],
        initContainers=[container("no", {}), sidecar("beside", {GPU: "2"})],
    ),
    "two-resources-of-init-containers": pod(
        [container("a", {GPU: "1", NIC: "2"})],
        BOTH,
        initContainers=[sidecar("beside", {NIC: "2"}), container("check", {GPU: "1", NIC: "2"})],
    ),
}
"""Pods with devices in init containers."""
_CHANNEL = {pods.TEMPLATE: "kq-a,kq-b", pods.CHANNEL: "kq-domain"}
IN_A_DOMAIN = [
    pytest.param(
        pod([container("log", {}), container("a", {GPU: "1"})], GPU, _CHANNEL), id="a-channel"
    ),
    pytest.param(
        pod(
            [container("a", {GPU: "1", NIC: "1"}, claims=[{"name": "own"}])],
            BOTH,
            _CHANNEL,
            resourceClaims=OWN,
            initContainers=[container("check", {GPU: "1"}), container("no", {})],
        ),
        id="a-channel-for-all-who-have-devices",
    ),
]
"""Pods that enter a ComputeDomain."""
REWRITTEN = [
    *_PLAIN,
    *IN_A_DOMAIN,
    *(pytest.param(one, id=name) for name, one in INIT_PODS.items()),
]
"""Pods that get their claims."""
LEFT_ALONE = [
    pytest.param(unlabelled(), id="no-label"),
    pytest.param(pod(ONE, GPU, {}), id="no-template-is-named"),
    pytest.param(pod(ONE, resourceClaims=TAKEN), id="the-claims-name-is-taken"),
]
"""Pods that stay as they are, behind their gate."""
