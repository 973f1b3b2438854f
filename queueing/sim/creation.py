"""Jobs of files as they would be after their creation, with the defaults of the webhook."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from queueing.core.facts import NamespaceFact
from queueing.core.selectors import selects
from queueing.kinds.managed import job_rules
from queueing.sim.documents import LIVE, Document
from queueing.sim.job_kinds import Jobs, is_pod
from queueing.sim.jobs import GivenJob
from queueing.translate import labels
from queueing.translate.configuration import is_enabled
from queueing.webhooks.jobs import DEFAULT, DefaultingContext, default_job, default_labels
from queueing.webhooks.rules import has_managed_owner
from queueing_api.config.v1beta2 import Configuration


class Creation:
    """What the defaults of a new Job depend on; a Job read from a cluster has them already."""

    def __init__(
        self,
        documents: Iterable[Document],
        configuration: Configuration,
        namespaces: Mapping[str, NamespaceFact],
        jobs: Jobs,
    ) -> None:
        self._jobs, self._owners = jobs, jobs.owners()
        self.rules = job_rules(configuration)
        self._namespaces = namespaces
        named = [one for one in documents if one.name == DEFAULT]
        self._doors = {
            one.value["metadata"]["namespace"] for one in named if one.kind == "LocalQueue"
        }
        self._default_class = is_enabled(configuration, "WorkloadPriorityClassDefaulting") and any(
            one.kind == "WorkloadPriorityClass" for one in named
        )

    def labels_of(self, namespace: str) -> Mapping[str, str]:
        """Return the labels of a namespace; one without a document has only its name label."""
        fact = self._namespaces.get(namespace)
        return {labels.NAMESPACE: namespace} if fact is None else fact.labels

    def job(self, document: Document) -> GivenJob:
        """Return a job. Raises ManifestError, naming the line of a field that cannot be read."""
        live, runs = document.file == LIVE, _runs(document)
        if is_pod(document):
            return self._pod(document, live=live)
        runs = runs or self._jobs.view(document).active
        if not live:
            document = replace(document, value=self._created(document))
        return GivenJob(job=self._jobs.view(document), live=live, runs=runs)

    def _created(self, document: Document) -> dict[str, Any]:
        """Return a job with the defaults of its creation; only some are suspended themselves."""
        thing, around = document.value, self._around(document)
        if self._jobs.view(document).queued_through_pods:
            return dict(default_labels(thing, around) or thing)
        return dict(default_job(thing, around, self._jobs.field(document)))

    def _pod(self, document: Document, *, live: bool) -> GivenJob:
        """Return a pod as the policies of the API server gate it when it is created."""
        phase = (document.value.get("status") or {}).get("phase") or "Pending"
        if not live:
            metadata, spec = document.value["metadata"], document.value.get("spec") or {}
            marks = {**(metadata.get("labels") or {}), labels.MANAGED: "true"}
            if metadata["namespace"] in self._doors:
                marks.setdefault(labels.QUEUE_NAME, DEFAULT)
            gates = [*(spec.get("schedulingGates") or ()), {"name": labels.GATE}]
            created = {
                **document.value,
                "metadata": {**metadata, "labels": marks},
                "spec": {**spec, "schedulingGates": gates},
            }
            document = replace(document, value=created)
        return GivenJob(job=self._jobs.view(document), live=live, runs=phase == "Running")

    def _around(self, document: Document) -> DefaultingContext:
        namespace = document.value["metadata"]["namespace"]
        return DefaultingContext(
            namespace_managed=selects(self.rules.namespaces, self.labels_of(namespace)),
            manage_without_queue=self.rules.without_queue_name,
            default_local_queue=namespace in self._doors,
            default_priority_class=self._default_class,
            owner_managed=has_managed_owner(document.value, self._owners),
        )


def _runs(document: Document) -> bool:
    """Say whether a Job's status shows that it runs: active pods, or a start and no suspension."""
    status = document.value.get("status") or {}
    suspended = document.value_at(["spec", "suspend"])
    return bool(status.get("active") or (status.get("startTime") and not suspended))
