"""The kinds that a plan reads, with their schema and the validation of their webhook."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from queueing.devices.wire.names import WORKLOAD_UID
from queueing.sim.documents import Document, Step, parse, spell
from queueing.sim.unknown_fields import did_you_mean, names_at, unknown_field_warnings
from queueing.sim.yaml_text import ManifestError
from queueing.webhooks.admission import check
from queueing.webhooks.rules import RULES_OF
from queueing_api.batch.v1 import Job
from queueing_api.config.blanks import without_blanks
from queueing_api.config.v1beta1 import as_v1beta2
from queueing_api.config.v1beta2 import Configuration
from queueing_api.core.cluster import LimitRange, Namespace, Node, PriorityClass, RuntimeClass
from queueing_api.core.pod import Pod
from queueing_api.crd.generate import as_stored
from queueing_api.kueue import v1beta1, v1beta2
from queueing_api.kueue.convert import ConversionError, convert
from queueing_api.meta.v1 import KubeObject
from queueing_api.queueing import v1alpha1
from queueing_api.queueing.v1alpha1.credit_policy import DURATION_PATTERN
from queueing_api.queueing.v1alpha1.queueable_kind import PATH_PATTERN
from queueing_api.resource.v1 import (
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from queueing_api.wire import DNS_SUBDOMAIN_PATTERN

KUEUE = "kueue.x-k8s.io"
CONFIG = "config.kueue.x-k8s.io"
OWN = "queueing.dev"

_VERSIONS = {"v1beta1": v1beta1, "v1beta2": v1beta2}
_OF_KUEUE = (
    "AdmissionCheck",
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "ResourceFlavor",
    "Topology",
    "Workload",
    "WorkloadPriorityClass",
)

MODELS: Mapping[tuple[str, str], type[BaseModel]] = MappingProxyType(
    {
        (f"{KUEUE}/{version}", kind): getattr(module, kind)
        for version, module in _VERSIONS.items()
        for kind in _OF_KUEUE
    }
    | {
        (f"{CONFIG}/v1beta2", "Configuration"): Configuration,
        (f"{CONFIG}/v1beta1", "Configuration"): Configuration,
        (f"{OWN}/v1alpha1", "Checkpoint"): v1alpha1.Checkpoint,
        (f"{OWN}/v1alpha1", "CheckpointPolicy"): v1alpha1.CheckpointPolicy,
        (f"{OWN}/v1alpha1", "CreditAccount"): v1alpha1.CreditAccount,
        (f"{OWN}/v1alpha1", "CreditBudget"): v1alpha1.CreditBudget,
        (f"{OWN}/v1alpha1", "CreditGrant"): v1alpha1.CreditGrant,
        (f"{OWN}/v1alpha1", "CreditPolicy"): v1alpha1.CreditPolicy,
        (f"{OWN}/v1alpha1", "DeviceFlavor"): v1alpha1.DeviceFlavor,
        (f"{OWN}/v1alpha1", "QueueableKind"): v1alpha1.QueueableKind,
        (f"{OWN}/v1alpha1", "UsageRecord"): v1alpha1.UsageRecord,
        ("batch/v1", "Job"): Job,
        ("v1", "LimitRange"): LimitRange,
        ("v1", "Namespace"): Namespace,
        ("v1", "Node"): Node,
        ("v1", "Pod"): Pod,
        ("resource.k8s.io/v1", "DeviceClass"): DeviceClass,
        ("resource.k8s.io/v1", "ResourceClaim"): ResourceClaim,
        ("resource.k8s.io/v1", "ResourceClaimTemplate"): ResourceClaimTemplate,
        ("resource.k8s.io/v1", "ResourceSlice"): ResourceSlice,
        ("node.k8s.io/v1", "RuntimeClass"): RuntimeClass,
        ("scheduling.k8s.io/v1", "PriorityClass"): PriorityClass,
    }
)

NAMESPACED = frozenset(
    {
        "Checkpoint",
        "CheckpointPolicy",
        "Job",
        "LimitRange",
        "LocalQueue",
        "Pod",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "Workload",
    }
)

_NAMES = frozenset({"clusterQueue", "cohort", "cohortName", "name", "parentName", "queueName"})
"""Fields that hold the name of an object of Kueue."""

_PARENTS = frozenset({"cohort", "cohortName", "parentName"})
"""Of these, those whose empty name is that of nobody."""

WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("MultiKueueConfig", "MultiKueueCluster"), "there is no MultiKueue here")
    | {
        "Kustomization": "files are read as they are",
        "ProvisioningRequestConfig": "checks do not change by themselves here",
    }
)
"""Kinds on which no decision depends, and why."""

_GROUPS_WITHOUT_EFFECT = frozenset({"", KUEUE, OWN, "kustomize.config.k8s.io", "resource.k8s.io"})

PODS_WITHOUT_EFFECT = (
    "a pod that is on no node takes no room; those with a queue are planned, and those of admitted"
    f" work with claims of its own, by their label {WORKLOAD_UID}, tell what these were given"
)
UNREAD = ("Configuration", "Pod")
"""Kinds whose unknown fields give no warning: the Configuration has a reader of its own, and of
Pods only labels matter."""


def is_known(document: Document) -> bool:
    """Say whether a document is of a kind that a plan reads.

    Raises ManifestError for a known kind in a version that is not read.
    """
    if has_schema(document):
        return True
    read = [
        api_version
        for api_version, kind in MODELS
        if kind == document.kind and api_version.rpartition("/")[0] == document.group
    ]
    if read:
        problem = f"{document.api_version} is not read here; write {' or '.join(read)}"
        raise document.error(["apiVersion"], problem)
    return False


def has_schema(document: Document) -> bool:
    """Say whether a document is of a kind whose fields are known."""
    return (document.api_version, document.kind) in MODELS


def over(live: Iterable[Document], written: list[Document]) -> list[Document]:
    """Return the objects of a cluster, those replaced that a file gives."""
    given = {_identity(one) for one in written}
    return [*(one for one in live if _identity(one) not in given), *written]


def _identity(document: Document) -> tuple[str, ...]:
    metadata = document.value["metadata"]
    home = "default" if document.kind in NAMESPACED else ""
    return document.group, document.kind, metadata.get("namespace") or home, document.name


def configurations_within(document: Document) -> Iterator[Document]:
    """Yield the Configurations that are the data of a ConfigMap, as an installation has them.

    Raises ManifestError for data that cannot be read; lines count from where it begins.
    """
    data = document.value_at(["data"])
    for key, text in data.items() if isinstance(data, dict) else ():
        if isinstance(text, str) and CONFIG in text:
            for one in parse(text, file=f"{document.file} ({key})"):
                if one.kind == "Configuration":
                    yield one


def meant(document: Document) -> str:
    """Return a suggestion for a kind that seems to be misspelled; else an empty text."""
    if document.kind == "ConfigMap" and CONFIG in str(document.value_at(["data"])):
        return "; the Configuration in it is read from --config"
    known = sorted({kind for version, kind in MODELS if version == document.api_version})
    return did_you_mean(document.kind, known)


def without_effect(document: Document) -> str:
    """Return why nothing depends on a document or its kind; empty when something may."""
    if document.group not in _GROUPS_WITHOUT_EFFECT:
        return ""
    if document.kind == "Pod":
        metadata, spec = (document.value.get(one) for one in ("metadata", "spec"))
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        is_bound = isinstance(spec, dict) and bool(spec.get("nodeName"))
        return "" if is_bound or WORKLOAD_UID in (labels or {}) else PODS_WITHOUT_EFFECT
    return WITHOUT_EFFECT.get(document.kind, "")


class Oddities(NamedTuple):
    """What is strange about a document that can be used; sentences."""

    names: list[str]
    """Names that no API server would take: they decide nothing."""
    fields: list[str]
    """Fields that its kind does not have."""


def check_shape(document: Document) -> Oddities:
    """Validate a document by its schema, and tell what the API server would prune.

    Raises ManifestError for the fields that the API server's schema would refuse.
    """
    if document.kind != "Configuration" and not document.name:
        raise document.error(["metadata", "name"], "required")
    model = MODELS[document.api_version, document.kind]
    found = Oddities([], [])
    shape, made = body(document), None
    while made is None:
        try:
            made = model.model_validate(shape)
        except ValidationError as error:
            shape = _mended(document, shape, error, found.names)
    if document.kind not in UNREAD:
        found.fields.extend(unknown_field_warnings(document, made, _other_versions(document)))
    return found


def _other_versions(document: Document) -> dict[str, type[BaseModel]]:
    """Return the models of a kind in the other versions of its group."""
    return {
        api_version.rpartition("/")[2]: model
        for (api_version, kind), model in MODELS.items()
        if kind == document.kind
        and api_version != document.api_version
        and api_version.rpartition("/")[0] == document.group
    }


def _mended(
    document: Document, shape: dict[str, Any], error: ValidationError, warnings: list[str]
) -> dict[str, Any]:
    """Return the same without what may be wrong with it, names that are odd with a warning.

    Raises ManifestError for the fields that must not be so.
    """
    problems: list[ManifestError] = []
    for found in error.errors(include_url=False):
        path, fault = found["loc"], found["type"]
        problem = manifest_error(document, path, fault, found["msg"])
        if _is_odd_name(path, fault, found["input"]):
            shape = _renamed(shape, path)
            warnings.append(str(problem))
        elif _may_be_left_out(path, fault):
            shape = {key: value for key, value in shape.items() if key != "status"}
        else:
            problems.append(problem)
    if problems:
        raise ManifestError.of_all(problems) from error
    return shape


def body(document: Document) -> dict[str, Any]:
    """Return what the schema speaks of: a Configuration is a file and has no metadata."""
    if document.kind != "Configuration":
        return document.value
    bare = {key: value for key, value in document.value.items() if key != "metadata"}
    written: dict[str, Any] = without_blanks(bare)
    return as_v1beta2(written) if document.api_version == f"{CONFIG}/v1beta1" else written


def upgraded(document: Document) -> Document:
    """Return an object of `kueue.x-k8s.io/v1beta1` converted to `v1beta2`."""
    if document.api_version != f"{KUEUE}/v1beta1":
        return document
    try:
        return replace(document, value=dict(convert(document.value, f"{KUEUE}/v1beta2")))
    except ConversionError as error:
        raise document.error([], str(error)) from error


def _may_be_left_out(path: tuple[Step, ...], fault: str) -> bool:
    """Say whether a field that the schema requires may be missing: in a status, for brevity."""
    return fault == "missing" and path[:1] == ("status",)


def _is_odd_name(path: tuple[Step, ...], fault: str, value: object) -> bool:
    """Say whether all that is wrong with a field is how the name of an object is spelled."""
    if fault != "string_pattern_mismatch" or (not value and path[-1] not in _PARENTS):
        return False
    return path[-1] in _NAMES or path[-2:-1] == ("flavors",)


def _renamed(shape: Any, path: tuple[Step, ...]) -> Any:
    """Return the same with a name there that is spelled as it should be, another for each."""
    if not path:
        return f"odd-{sha256(shape.encode()).hexdigest()[:32]}"
    step, rest = path[0], path[1:]
    if isinstance(shape, list):
        return [_renamed(one, rest) if at == step else one for at, one in enumerate(shape)]
    if isinstance(shape, dict):
        return {key: _renamed(one, rest) if key == step else one for key, one in shape.items()}
    return shape


_NO_MAPPING = frozenset({"dict_type", "model_type", "model_attributes_type"})
_TOLD_BARE = frozenset({"missing", "extra_forbidden", *_NO_MAPPING})
"""Faults of which it does not help to show what is written."""
_FORMS: Mapping[str, str] = MappingProxyType(
    {
        DURATION_PATTERN: "must be a duration such as 30s, 5m or 1h30m",
        DNS_SUBDOMAIN_PATTERN: "must be of lower-case letters, digits, '-' and '.', with a letter"
        " or a digit at both ends",
        PATH_PATTERN: "must be names of fields with dots between them, such as spec.template",
    }
)
"""What a pattern asks for, in words."""
_OF_THE_OLDER_VERSION: Mapping[str, str] = MappingProxyType(
    {
        "fairSharing.enable": "a field of v1beta1 only: here fair sharing is on where its block"
        " stands; leave the block out to have it off",
        "waitForPodsReady.enable": "a field of v1beta1 only: here it is on; the feature gate"
        " DisableWaitForPodsReady switches it off",
        "queueVisibility": "a field of v1beta1 only, without effect there; leave it out",
        "integrations.podOptions": "a field of v1beta1 only: managedJobsNamespaceSelector selects"
        " namespaces",
    }
)
"""Fields of a Configuration that went with v1beta1, and how the same is said now."""


def manifest_error(
    document: Document, path: tuple[Step, ...], fault: str, message: str
) -> ManifestError:
    """Tell a fault that a schema found in a document in the words of this program."""
    shown = document.value_at(path)
    what = message.removeprefix("Value error, ").removeprefix("Input ")
    if fault == "missing":
        what = "required"
    elif fault == "extra_forbidden":
        model = MODELS[document.api_version, document.kind]
        meant = did_you_mean(str(path[-1]), names_at(model, path[:-1]))
        what = _OF_THE_OLDER_VERSION.get(spell(path), f"unknown field{meant}")
    elif fault in _NO_MAPPING:
        what = "must be a mapping"
    elif fault == "string_pattern_mismatch":
        what = next((said for form, said in _FORMS.items() if f"'{form}'" in what), what)
    if fault not in _TOLD_BARE and not isinstance(shown, dict | list) and repr(shown) not in what:
        what = f"{shown!r} {what}"
    return document.error(path, what)


def rule_warnings(document: Document) -> list[str]:
    """Return as warnings what definitions, policies or webhooks would refuse of a document.

    It is of a stored version; the plan uses the object all the same.
    """
    model = MODELS[document.api_version, document.kind]
    stored = without_blanks(document.value)
    if issubclass(model, KubeObject) and document.kind in RULES_OF:
        stored = as_stored(model, stored)
    found = check(document.kind, stored)
    return [f"{document.file}:{document.line}: {document.title}: {one}" for one in found]
