"""The kinds with rules of their own, by storage key."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from queueing.apiserver.failures import StatusCause
from queueing.apiserver.rules import admissionregistration, definitions, events, jobs, objects, pods
from queueing.apiserver.tree import Object


def _as_is(obj: Object) -> Object:
    return obj


def _new(_old: Object, new: Object) -> Object:
    return new


def _fine(_obj: Object, _old: Object | None) -> Iterable[StatusCause]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRule:
    """What is special about a kind: at creation, on update, its defaults, and its checks."""

    on_create: Callable[[Object], Object] = _as_is
    on_update: Callable[[Object, Object], Object] = _new
    default: Callable[[Object], Object] = _as_is
    check: Callable[[Object, Object | None], Iterable[StatusCause]] = _fine


KINDS: Mapping[str, KindRule] = MappingProxyType(
    {
        "namespaces": KindRule(
            on_create=objects.namespace_created, on_update=objects.namespace_updated
        ),
        "pods": KindRule(on_create=pods.created, default=pods.defaulted, check=pods.violations),
        "events": KindRule(default=events.defaulted, check=events.violations),
        "nodes": KindRule(default=objects.node_defaulted),
        "services": KindRule(default=objects.service_defaulted),
        "secrets": KindRule(default=objects.secret_defaulted),
        "jobs.batch": KindRule(
            on_create=jobs.created, default=jobs.defaulted, check=jobs.violations
        ),
        "cronjobs.batch": KindRule(default=jobs.cron_defaulted, check=jobs.cron_violations),
        "priorityclasses.scheduling.k8s.io": KindRule(
            default=objects.priority_class_defaulted, check=objects.priority_class_violations
        ),
        "customresourcedefinitions.apiextensions.k8s.io": KindRule(
            on_create=definitions.created,
            on_update=definitions.updated,
            default=definitions.defaulted,
            check=definitions.violations,
        ),
        "mutatingwebhookconfigurations.admissionregistration.k8s.io": KindRule(
            default=admissionregistration.mutating_defaulted, check=admissionregistration.violations
        ),
        "validatingwebhookconfigurations.admissionregistration.k8s.io": KindRule(
            default=admissionregistration.validating_defaulted,
            check=admissionregistration.violations,
        ),
    }
)
