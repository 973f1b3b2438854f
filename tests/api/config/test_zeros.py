"""A Configuration encoded by a program in Go, where what was never set is written as zero."""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from queueing_api.config.duration import Duration
from queueing_api.config.load import ConfigurationError, load
from queueing_api.config.v1beta2 import Configuration

HEAD = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
OLD_HEAD = {**HEAD, "apiVersion": "config.kueue.x-k8s.io/v1beta1"}
SECONDS = get_args(Duration)[1]
Path = tuple[str, ...]

NEEDED: dict[str, dict[str, Any]] = {
    "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
    "admissionFairSharing": {"usageHalfLifeTime": "1h"},
    "transformations": {"input": "a"},
    "deviceClassMappings": {"name": "a", "deviceClassNames": ["c"]},
    "customLabels": {"name": "a"},
    "accessProviders": {"name": "a"},
    "credentialsProviders": {"name": "a"},
    "counter": {"name": "a", "driver": "d"},
    "capacity": {"name": "a", "driver": "d"},
    "matchExpressions": {"key": "a", "operator": "Exists"},
}
"""What a part must have beside the field that is zero."""

KEPT = {
    "webhook.host": "",
    "metrics.enableClusterQueueResources": False,
    "metrics.localQueueMetrics.enable": False,
    "metrics.customLabels.sourceAnnotationKey": "",
    "metrics.customLabels.sourceLabelKey": "",
    "pprofBindAddress": "",
    "leaderElection.leaderElect": False,
    "leaderElection.resourceNamespace": "",
    "clientConnection.qps": 0.0,
    "clientConnection.burst": 0,
    "manageJobsWithoutQueueName": False,
    "internalCertManagement.enable": False,
    "waitForPodsReady.blockAdmission": False,
    "waitForPodsReady.recoveryTimeout": 0.0,
    "waitForPodsReady.requeuingStrategy.backoffLimitCount": 0,
    "waitForPodsReady.requeuingStrategy.backoffBaseSeconds": 0,
    "waitForPodsReady.requeuingStrategy.backoffMaxSeconds": 0,
    "multiKueue.gcInterval": 0.0,
    "multiKueue.workerLostTimeout": 0.0,
    "multiKueue.clusterProfile.accessProviders.name": "",
    "multiKueue.clusterProfile.credentialsProviders.name": "",
    "admissionFairSharing.usageHalfLifeTime": 0.0,
    "resources.transformations.input": "",
    "resources.transformations.multiplyBy": "",
    "resources.deviceClassMappings.sources.counter.deviceSelector": "",
    "resources.deviceClassMappings.sources.counter.deviceSelector.cel.expression": "",
    "resources.deviceClassMappings.sources.capacity.deviceSelector": "",
    "resources.deviceClassMappings.sources.capacity.deviceSelector.cel.expression": "",
    "objectRetentionPolicies.workloads.afterFinished": 0.0,
    "objectRetentionPolicies.workloads.afterDeactivatedByKueue": 0.0,
}
"""Fields whose zero is a value like others, or the default itself."""

REFUSED = {
    "apiVersion",
    "kind",
    "internalCertManagement.webhookServiceName",
    "internalCertManagement.webhookSecretName",
    "metrics.customLabels.name",
    "metrics.localQueueMetrics.localQueueSelector.matchExpressions.key",
    "metrics.localQueueMetrics.localQueueSelector.matchExpressions.operator",
    "multiKueue.incrementalDispatcherConfig.stepSize",
    "multiKueue.externalFrameworks.name",
    "managedJobsNamespaceSelector.matchExpressions.key",
    "managedJobsNamespaceSelector.matchExpressions.operator",
    "resources.deviceClassMappings.name",
    "resources.deviceClassMappings.sources.counter.name",
    "resources.deviceClassMappings.sources.counter.driver",
    "resources.deviceClassMappings.sources.capacity.name",
    "resources.deviceClassMappings.sources.capacity.driver",
    "waitForPodsReady.requeuingStrategy.timestamp",
}
"""Fields that Kueue refuses, too, when they are zero."""


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield what a field may hold: types without their constraints, `Duration` as it is."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for one in get_args(annotation):
            yield from _kinds(one)
    elif annotation is not NoneType:
        yield annotation


def _zero(field: FieldInfo) -> Any:
    """Return the zero value of a scalar as Go writes it; None for other fields."""
    if any(one == SECONDS for one in field.metadata) or Duration in get_args(field.annotation):
        return "0s"
    for kind in _kinds(field.annotation):
        if get_origin(kind) is Literal or kind is str:
            return ""
        if kind in (bool, int, float):
            return kind()
    return None


def _scalars(model: type[BaseModel], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the path of every scalar, with the way in which Go writes its zero."""
    for name, field in model.model_fields.items():
        path = (*above, field.alias or name)
        parts = [
            part
            for kind in _kinds(field.annotation)
            for part in (kind, *(one for inner in get_args(kind) for one in _kinds(inner)))
            if isinstance(part, type) and issubclass(part, BaseModel)
        ]
        for part in parts:
            yield from _scalars(part, path)
        zero = None if parts and not _is_text_too(field) else _zero(field)
        if zero is not None:
            yield path, zero


def _is_text_too(field: FieldInfo) -> bool:
    return str in list(_kinds(field.annotation))


SCALARS = dict(_scalars(Configuration))
UNSET = [path for path in SCALARS if ".".join(path) not in KEPT and ".".join(path) not in REFUSED]
LISTS = {
    "accessProviders",
    "credentialsProviders",
    "customLabels",
    "deviceClassMappings",
    "externalFrameworks",
    "matchExpressions",
    "sources",
    "transformations",
}


def _written(path: Path, value: Any) -> dict[str, Any]:
    """Return a document with a field, and with what the parts around it must have."""
    *above, last = path
    beside = NEEDED.get(above[-1], {}) if above else {}
    part: Any = {**beside, last: value}
    for place in reversed(range(len(above))):
        inside = [part] if above[place] in LISTS else part
        around = NEEDED.get(above[place - 1], {}) if place else {}
        part = {**around, above[place]: inside}
    return {**HEAD, **part}


def _read(document: dict[str, Any]) -> Configuration:
    return load(yaml.safe_dump(document))


def _at(configuration: Any, path: Path) -> Any:
    value = configuration.model_dump(by_alias=True, mode="python")
    for step in path:
        value = value[step]
        value = value[0] if step in LISTS else value
    return value


@pytest.mark.parametrize("path", UNSET, ids=".".join)
def test_a_zero_is_read_as_a_field_that_is_missing(path: Path) -> None:
    assert _read(_written(path, SCALARS[path])) == _read(_written(path, None))


@pytest.mark.parametrize("name", KEPT)
def test_a_zero_that_means_something_is_kept(name: str) -> None:
    path = tuple(name.split("."))
    found = _at(_read(_written(path, SCALARS[path])), path)
    assert found in (KEPT[name], "0s")


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_zero_that_cannot_be_used_is_refused_by_name(name: str) -> None:
    path = tuple(name.split("."))
    with pytest.raises(ConfigurationError) as refused:
        _read(_written(path, SCALARS[path]))
    assert path[-1] in str(refused.value)


@given(paths=st.sets(st.sampled_from([path for path in UNSET if len(path) <= 2])))
def test_whatever_is_written_as_zero_the_defaults_are_found(paths: set[Path]) -> None:
    document: dict[str, Any] = dict(HEAD)
    for path in paths:
        *above, last = path
        part = document
        for step in above:
            part = part.setdefault(step, dict(NEEDED.get(step, {})))
        part[last] = SCALARS[path]
    bare = {step: NEEDED.get(step, {}) for step, part in document.items() if isinstance(part, dict)}
    assert _read(document) == _read({**HEAD, **bare})


@pytest.mark.parametrize(
    "part",
    [
        "clientConnection",
        "controller",
        "health",
        "integrations",
        "internalCertManagement",
        "leaderElection",
        "metrics",
        "multiKueue",
        "resources",
        "visibilityServer",
        "waitForPodsReady",
        "webhook",
    ],
)
def test_an_empty_part_is_one_that_is_missing(part: str) -> None:
    assert _read({**HEAD, part: {}}) == Configuration()


def test_what_a_program_in_go_writes_for_leader_election_has_kueues_defaults() -> None:
    written = {
        "leaderElect": True,
        "leaseDuration": "0s",
        "renewDeadline": "0s",
        "retryPeriod": "0s",
        "resourceLock": "",
        "resourceName": "",
        "resourceNamespace": "",
    }
    found = _read({**HEAD, "leaderElection": written}).leader_election
    assert (found.lease_duration, found.renew_deadline, found.retry_period) == (15.0, 10.0, 2.0)
    assert (found.resource_lock, found.resource_name) == ("leases", "c1f6bfd2.kueue.x-k8s.io")


def test_a_timeout_of_zero_has_the_default_of_its_own_version() -> None:
    written = {"waitForPodsReady": {"enable": True, "timeout": "0s"}}
    assert _read({**OLD_HEAD, **written}).wait_for_pods_ready.timeout == 300.0


def test_no_worker_for_a_kind_is_the_usual_number() -> None:
    written = {"controller": {"groupKindConcurrency": {"Job.batch": 0}}}
    assert _read({**HEAD, **written}).controller.group_kind_concurrency == {"Job.batch": 0}
