"""Fields of Kueue's Configuration that have no effect here, which a start reports.

A file written for Kueue is accepted as it is. Invariant: every field of the Configuration is either
read somewhere or listed in this table.
"""

from collections.abc import Collection, Iterator

from pydantic import BaseModel

from queueing.translate.gates import fate, without_effect
from queueing_api.config.v1beta2 import Configuration

ALWAYS = "batch/job"
"""The framework whose jobs are queued in any case."""

UNHEEDED: dict[str, str] = {
    "metrics.customLabels": "they belong to the gate CustomMetricLabels, which is refused",
    "pprofBindAddress": "pprof shows programs in Go; samplers for Python need no endpoint",
    "controller.groupKindConcurrency": "workers mostly wait for the API server, at no cost",
    "controller.cacheSyncTimeout": "a restart would begin anew; until then /readyz says no",
    "tls.curvePreferences": "OpenSSL chooses key exchanges, and Python has no setting for it",
    "clientConnection.qps": "calls are paced by the answers of the API server",
    "clientConnection.burst": "calls are paced by the answers of the API server",
    "multiKueue": "there is no MultiKueue",
}
"""Dotted path of a field, and what holds instead."""


def unheeded(configuration: Configuration, queued: Collection[str] = (ALWAYS,)) -> Iterator[str]:
    """Say, a sentence each, which fields the file sets without effect; in a fixed order.

    `queued` are the frameworks whose jobs can be queued.
    """
    for path, instead in UNHEEDED.items():
        if _is_set(configuration, path):
            yield f"{path} has no effect: {instead}"
    for gate in without_effect(configuration.feature_gates):
        yield f"featureGates.{gate} has no effect: {fate(gate)[1]}"
    frameworks = configuration.integrations.frameworks
    for name in frameworks:
        if name not in queued:
            yield f"integrations.frameworks: {name} has no effect: jobs of this kind are not queued"
    if ALWAYS not in frameworks:
        yield f"integrations.frameworks: {ALWAYS} is queued although it is not listed"


def _is_set(part: BaseModel, path: str) -> bool:
    """Whether the file itself gave the field a value, other than its default."""
    head, _, rest = path.partition(".")
    fields = {field.alias or name: name for name, field in type(part).model_fields.items()}
    name = fields[head]
    value = getattr(part, name)
    if name not in part.model_fields_set or value == type(part).model_fields[name].get_default():
        return False
    return _is_set(value, rest) if rest and isinstance(value, BaseModel) else True
