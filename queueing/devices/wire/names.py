"""Labels, annotations and names of what an admission creates.

The policy or webhook that adds claims to pods reads its instructions from the annotations.
"""

from hashlib import sha256
from typing import Any

import msgspec

from queueing.translate.wire.meta import Meta

TRAITS = "queueing.dev/traits"
"""Annotation of a pod template: what its devices must have, by resource, as JSON."""
SLOT = "queueing.dev/slot."
"""Annotation of a pod template, followed by a claim's name: what is to fill that claim."""
INJECT = "queueing.dev/inject"
"""Label of a pod: the injection policy gives it its claim."""
INJECT_RESOURCE = "queueing.dev/resource"
"""Annotation of pods: resources that claims stand for, by commas. Of templates and claims: the one
that they stand for."""
INJECT_TEMPLATE = "queueing.dev/template"
"""Annotation of a pod: the ResourceClaimTemplate for each of the resources, or nothing."""
INJECT_CLAIM = "queueing.dev/claim"
"""Annotation of a pod: for each, the ResourceClaim that the pods of its set share, or nothing."""
CHANNEL = "queueing.dev/channel"
"""Annotation of a pod: the ResourceClaimTemplate by which it enters its ComputeDomain."""
COMPUTE_DOMAIN = "queueing.dev/compute-domain"
"""Annotation of templates and claims: the ComputeDomain that goes when they go."""
GATE = "queueing.dev/claims"
"""Scheduling gate of pods until they have their claim: nothing runs without its devices."""
WORKLOAD = "queueing.dev/workload"
"""Label of templates and claims: the Workload's name, cut to a label's length."""
WORKLOAD_UID = "queueing.dev/workload-uid"
POD_SET = "queueing.dev/pod-set"
FLAVOR = "queueing.dev/flavor"
"""Label of templates and claims: the ResourceFlavor whose devices they ask for."""
CLAIM_SPECS = "queueing.dev/claim-specs"
"""Annotation of pods: digest of what the claims of their user's own asked for when they started."""
BY_SCHEDULER = "resource.kubernetes.io/extended-resource-claim"
"""Annotation of claims that the scheduler makes for pods which ask for an extended resource."""
PLAN = "queueing.dev/claim-plan"
"""Annotation of templates and claims: digest of all that they were made from."""
INJECTED_MAX = 4
"""Resources of one pod that may come by injected claims."""
CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Kubernetes' extended resource for the devices of a class."""

NAME_MAX = 63
_DIGEST = 10
_PREFIX = "kq-"


def digest(*parts: Any) -> str:
    """Digest plain data in a form that no order of keys can change."""
    return sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def object_name(job: str, pod_set: str, digested: str) -> str:
    """Name a template or claim by its content, so that a repeated create meets itself."""
    room = NAME_MAX - len(_PREFIX) - 1 - _DIGEST
    stem = f"{job}-{pod_set}"[:room].rstrip("-.")
    return f"{_PREFIX}{stem}-{digested[:_DIGEST]}".replace(".", "-")


def is_named_by_content(name: str) -> bool:
    """Say whether a template of ours has a name of ours, and not one that its user chose."""
    return name.startswith(_PREFIX)


def label_value(text: str) -> str:
    """Cut a name to what a label may hold."""
    return text[:NAME_MAX].rstrip("-._")


def workload_uid(meta: Meta) -> str:
    """Return whose template or claim it is; empty for one that no admission made."""
    return meta.labels.get(WORKLOAD_UID, "")


def pod_of(meta: Meta) -> str:
    """Return the uid of the pod that a claim belongs to; empty when it belongs to none."""
    return next((one.uid for one in meta.owner_references if one.kind == "Pod"), "")
