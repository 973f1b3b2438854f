"""`visibility.queueing.dev`: why a workload waits, and what goes on in a queue.

`…/namespaces/NAMESPACE/workloads/NAME/explanation`, the same of `localqueues`, and
`…/clusterqueues/NAME/explanation`, the same of `cohorts` and `resourceflavors`. Of a workload, and
of who waits in a queue, also `…/estimate`: when it will be admitted. Documents of discovery;
`explanation_routes` and `estimates` do the HTTP.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from queueing.serving.frames import FLAVORS, Subject
from queueing.serving.visibility import QueryError, read_window

GROUP = "visibility.queueing.dev"
VERSION = "v1alpha1"
SUBRESOURCE = "explanation"
ESTIMATE = "estimate"
"""The subresource that says when workloads will be admitted."""
ENGINES, SNAPSHOT = "engines", "snapshot"
"""What is asked for what the leader's engine sees: there is one engine, which is `current`."""
PAGE = f"/apis/{GROUP}/{VERSION}/ui/page/proxy"
"""Below this path the API server hands on what is asked of the page, as of `services/…/proxy`: the
subresource is the same for all that is below it, and requests may last."""
BESIDE = ("queueing-page", "kueue-system")
"""Name and namespace of the ConfigMap by which a server that hands nothing on says where its page
is: `queueing dev`."""
PARENTS = (
    ("clusterqueues", "ClusterQueue", False),
    ("localqueues", "LocalQueue", True),
    ("workloads", "Workload", True),
    ("cohorts", "Cohort", False),
    (FLAVORS, "ResourceFlavor", False),
)
LISTED = ("clusterqueues", "localqueues")
ESTIMATED = tuple(one for one in PARENTS if one[0] in (*LISTED, "workloads"))
"""Of what there are estimates."""
PARTS = ("waiting", "holding")
"""What of a queue can be listed."""


def subject_of(plural: str, namespace: str, name: str, query: Mapping[str, str]) -> Subject:
    """Return what a request asks about; raises QueryError naming the parameter."""
    part = query.get("part", "")
    of = f"{namespace}/{name}" if namespace else name
    if plural == FLAVORS:
        window = read_window(query)
        domain, topology = query.get("domain", ""), query.get("topology", "")
        return Subject(plural, of, domain, window.offset, window.limit, topology)
    if not part:
        return Subject(plural, of)
    if plural not in LISTED or part not in PARTS:
        raise QueryError(f"part={part} is not one of {', '.join(PARTS)} of a queue")
    window = read_window(query)
    return Subject(plural, of, part, window.offset, window.limit)


def place_of(subject: Subject) -> str:
    """Return where something is below the API of explanations, and below the page."""
    namespace, slash, name = subject.name.rpartition("/")
    within = f"namespaces/{quote(namespace, safe='')}/" if slash else ""
    return f"{within}{subject.kind}/{quote(name, safe='')}"


def path_of(subject: Subject, subresource: str = SUBRESOURCE) -> str:
    """Return the path and query by which something is asked about: the inverse of `subject_of`."""
    told = "domain" if subject.kind == FLAVORS else "part"
    query = {told: subject.part, "offset": subject.offset, "limit": subject.limit}
    query |= {"topology": subject.topology} if subject.topology else {}
    asked = f"?{urlencode(query)}" if subject.limit else ""
    return f"/apis/{GROUP}/{VERSION}/{place_of(subject)}/{subresource}{asked}"


def group_document() -> dict[str, Any]:
    """Describe our group for discovery."""
    version = {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": [version],
        "preferredVersion": version,
    }


def resource_list() -> dict[str, Any]:
    """Describe its resources for discovery."""
    resources: list[dict[str, Any]] = []
    for plural, kind, namespaced in PARENTS:
        parent = {
            "name": plural,
            "singularName": kind.lower(),
            "namespaced": namespaced,
            "kind": kind,
            "verbs": ["get"],
        }
        answer = f"{'Queue' if plural in LISTED else kind}Explanation"
        asked = {
            "name": f"{plural}/{SUBRESOURCE}",
            "singularName": "",
            "namespaced": namespaced,
            "kind": answer,
            "verbs": ["get"],
        }
        resources += [parent, asked]
        if (plural, kind, namespaced) in ESTIMATED:
            made = "LineEstimates" if plural in LISTED else "Estimate"
            resources.append({**asked, "name": f"{plural}/{ESTIMATE}", "kind": made})
    engine = {"singularName": "engine", "namespaced": False, "kind": "Engine", "verbs": ["get"]}
    resources += [
        {**engine, "name": ENGINES},
        {**engine, "name": f"{ENGINES}/{SNAPSHOT}", "singularName": "", "kind": "Snapshot"},
    ]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/{VERSION}",
        "resources": resources,
    }
