"""What somebody may be allowed to read, as the API server is asked about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from queueing.kube.resources import Resource
from queueing.serving import explanations


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """Something that a user may be allowed to read."""

    group: str
    version: str = "*"
    resource: str
    verb: str = "get"
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def attributes(self) -> Mapping[str, Any]:
        """Return it as a SubjectAccessReview asks for it."""
        resource = {
            "group": self.group,
            "version": self.version,
            "resource": self.resource,
            "subresource": self.subresource,
            "namespace": self.namespace,
            "name": self.name,
            "verb": self.verb,
        }
        return {"resourceAttributes": resource}

    @property
    def text(self) -> str:
        """The same for people."""
        part = f"/{self.subresource}" if self.subresource else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{part} of {self.group or 'the core group'}{where}"


def listing(resource: Resource, namespace: str = "") -> Right:
    """Return the right to list objects of a kind, of one namespace or all."""
    return Right(group=resource.group, resource=resource.plural, verb="list", namespace=namespace)


def explanation_of(resource: str, namespace: str = "", name: str = "") -> Right:
    """Return the right to have something explained."""
    return _asking(resource, explanations.SUBRESOURCE, namespace, name)


def estimate_of(resource: str, namespace: str = "", name: str = "") -> Right:
    """Return the right to ask when a workload, or who waits in a queue, will be admitted."""
    return _asking(resource, explanations.ESTIMATE, namespace, name)


def _asking(resource: str, subresource: str, namespace: str, name: str) -> Right:
    return Right(
        group=explanations.GROUP,
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
    )


EVERYTHING = explanation_of("clusterqueues")
"""Who has it reads the queues of all, and names of workloads of all namespaces."""
