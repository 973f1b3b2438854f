"""Claims of one's own in a plan: counted by the Configuration's mappings, as in Kueue."""

from typing import Any

import pytest
import yaml

from queueing.core.decisions import Admit, Wait
from queueing.core.settings import Compatibility
from queueing.sim.documents import parse
from queueing.sim.intake import read_world
from queueing.sim.plan import until_stable

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, whole-gpus]
    flavors:
    - name: any
      resources:
      - {name: cpu, nominalQuota: "8"}
      - {name: whole-gpus, nominalQuota: "4"}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq, namespace: team}
spec: {clusterQueue: cq}
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  deviceClassMappings: [{name: whole-gpus, deviceClassNames: [gpu.example.com]}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {extendedResourceName: example.com/gpu}
---
"""


def job(template: dict[str, Any]) -> str:
    metadata = {
        "name": "train",
        "namespace": "team",
        "labels": {"kueue.x-k8s.io/queue-name": "lq"},
    }
    spec = {"suspend": True, "parallelism": 2, "completions": 2, "template": template}
    return yaml.safe_dump(
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    )


def claim(*requests: dict[str, Any]) -> str:
    return "---\n" + yaml.safe_dump(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "mine", "namespace": "team"},
            "spec": {"spec": {"devices": {"requests": list(requests)}}},
        }
    )


OWN = job(
    {
        "spec": {
            "containers": [{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "mine"}],
        }
    }
)


def extended(name: str) -> str:
    return job({"spec": {"containers": [{"name": "c", "resources": {"limits": {name: "2"}}}]}})


EXACTLY = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", "count": 2}}
FIRST = {
    "name": "gpu",
    "firstAvailable": [{"name": "a", "deviceClassName": "gpu.example.com", "count": 2}],
}


def decide(text: str, compatibility: Compatibility) -> Admit | Wait:
    documents = parse(QUEUES + text, file="input")
    world = read_world(documents, now=0.0, compatibility=compatibility)
    plan = until_stable(world.facts, settings=world.settings, now=0.0)
    decision = plan.rounds[-1][-1] if plan.rounds[-1] else plan.rounds[0][-1]
    assert isinstance(decision, Admit | Wait)
    return decision


@pytest.mark.parametrize("compatibility", list(Compatibility))
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OWN + claim(EXACTLY), id="a template"),
        pytest.param(extended("example.com/gpu"), id="the extended resource of a class"),
    ],
)
def test_a_class_is_charged_to_the_resource_that_it_is_mapped_to(
    text: str, compatibility: Compatibility
) -> None:
    decision = decide(text, compatibility)
    assert isinstance(decision, Admit)
    assert decision.pod_sets[0].usage == {"whole-gpus": 4}


def test_the_first_available_way_is_counted_here_and_not_in_kueue() -> None:
    text = OWN + claim(FIRST)
    assert isinstance(decide(text, Compatibility.QUEUEING), Admit)
    refused = decide(text, Compatibility.KUEUE)
    assert isinstance(refused, Wait)
    assert "firstAvailable" in refused.message


def test_a_class_that_nobody_mapped_is_named() -> None:
    other = {"name": "gpu", "exactly": {"deviceClassName": "other.example.com"}}
    decision = decide(OWN + claim(other), Compatibility.QUEUEING)
    assert isinstance(decision, Wait)
    assert (
        "DeviceClass other.example.com is not mapped to a resource with quota" in decision.message
    )


HOLDER = """
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: team, labels: {kueue.x-k8s.io/queue-name: lq}}
spec:
  devices:
    requests:
    - name: gpu
      firstAvailable:
      - {name: many, deviceClassName: gpu.example.com, count: 4}
      - {name: few, deviceClassName: gpu.example.com, count: 2}
status:
  allocation:
    devices:
      results:
      - {request: gpu/few, driver: d, pool: n, device: gpu-0}
      - {request: gpu/few, driver: d, pool: n, device: gpu-1}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: holder, namespace: team, uid: holder}
spec:
  queueName: lq
  podSets:
  - name: main
    count: 1
    template:
      spec:
        containers: [{name: c, resources: {claims: [{name: gpu}]}}]
        resourceClaims: [{name: gpu, resourceClaimName: shared}]
status:
  admission:
    clusterQueue: cq
    podSetAssignments:
    - {name: main, count: 1, flavors: {whole-gpus: any}, resourceUsage: {whole-gpus: "4"}}
  conditions:
  - {type: QuotaReserved, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: Admitted, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}
"""


OF_A_POD = HOLDER.replace("resourceClaimName: shared", "resourceClaimTemplateName: either").replace(
    "name: shared, namespace: team, labels: {kueue.x-k8s.io/queue-name: lq}",
    "name: given, namespace: team, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: p}]",
)
EITHER = """
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: either, namespace: team}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        firstAvailable:
        - {name: many, deviceClassName: gpu.example.com, count: 4}
        - {name: few, deviceClassName: gpu.example.com, count: 2}
"""


def pod(workload: str) -> str:
    labels = {"queueing.dev/workload-uid": workload, "kueue.x-k8s.io/podset": "main"}
    metadata = {"name": "p", "namespace": "team", "uid": "p", "labels": labels}
    return "---\n" + yaml.safe_dump(
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "n"}}
    )


@pytest.mark.parametrize(
    ("of", "compatibility", "admitted"),
    [
        pytest.param("holder", Compatibility.QUEUEING, True, id="of its pod"),
        pytest.param("holder", Compatibility.KUEUE, False, id="of its pod, as Kueue counts"),
        pytest.param("another", Compatibility.QUEUEING, False, id="of another's pod"),
    ],
)
def test_claims_of_users_own_templates_are_those_of_their_pods(
    of: str, compatibility: Compatibility, *, admitted: bool
) -> None:
    one_each = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    decision = decide(OWN + claim(one_each) + EITHER + OF_A_POD + pod(of), compatibility)
    assert isinstance(decision, Admit) is admitted


def test_pods_that_tell_nothing_are_named_once() -> None:
    other = pod("x").replace("queueing.dev/workload-uid: x", "app: x").replace("nodeName", "other")
    documents = parse(QUEUES + other, file="input")
    world = read_world(documents, now=0.0, compatibility=Compatibility.QUEUEING)
    (told,) = (one for one in world.warnings if "Pod" in one)
    assert "a pod that is on no node takes no room" in told
    silent = parse(QUEUES + pod("x"), file="input")
    world = read_world(silent, now=0.0, compatibility=Compatibility.QUEUEING)
    assert not any("Pod" in one for one in world.warnings)


def test_what_claims_were_given_is_charged_here_and_the_most_of_it_in_kueue() -> None:
    one_each = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    text = OWN + claim(one_each) + HOLDER
    assert isinstance(decide(text, Compatibility.QUEUEING), Admit)
    kept = decide(text, Compatibility.KUEUE)
    assert isinstance(kept, Wait)
    assert "whole-gpus" in kept.message
