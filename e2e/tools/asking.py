"""Requests as Kueue's plugin, dashboard and own tests send them: paths, verbs, headers, bodies."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from e2e.api import MERGE
from e2e.identities import ADMIN
from e2e.installed import Installation
from e2e.wire import ApiError, Object, tls_of

KUEUE = "/apis/kueue.x-k8s.io"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
VERSIONS = ("v1beta1", "v1beta2")
WAITING = 5
LONG_S = 3600.0
PAGE_URL = "https://queueing.example.com/ui"
"""Where the installation says that its page is."""


def asked(
    place: Installation,
    verb: str,
    path: str,
    body: Any = None,
    *,
    accept: str = "application/json, */*",
    content_type: str = "application/json",
    identity: str = ADMIN,
) -> Any:
    """Send a request as client-go would, with its headers."""
    access = place.cluster.accesses[identity]
    headers = {
        "Accept": accept,
        "Content-Type": content_type,
        "User-Agent": "kueuectl/v0.20.0 (linux/amd64) kubernetes/$Format",
        "Authorization": f"Bearer {access.token}",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(access.server + path, data, headers, method=verb)
    try:
        with urllib.request.urlopen(request, timeout=30, context=tls_of(access)) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            raise ApiError(error.code, error.read().decode()) from None


def merged(place: Installation, path: str, body: Mapping[str, Any]) -> Object:
    return dict(asked(place, "PATCH", path, body, content_type=MERGE))


def pending(place: Installation, path: str, version: str = "v1beta2", query: str = "") -> Any:
    return asked(place, "GET", f"{VISIBILITY}/{version}/{path}/pendingworkloads{query}")["items"]


def typed_cluster_queue(name: str) -> Object:
    """Return a ClusterQueue as the plugin's typed client of v1beta1 spells it: with all zeros."""
    quota = {"name": "cpu", "nominalQuota": "4"}
    return {
        "kind": "ClusterQueue",
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "metadata": {"name": name, "creationTimestamp": None},
        "spec": {
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": "any", "resources": [quota]}],
                }
            ],
            "cohort": "all",
            "queueingStrategy": "BestEffortFIFO",
            "namespaceSelector": {},
            "preemption": {
                "reclaimWithinCohort": "Any",
                "withinClusterQueue": "LowerPriority",
            },
        },
        "status": {
            "flavorsReservation": None,
            "flavorsUsage": None,
            "pendingWorkloads": 0,
            "reservingWorkloads": 0,
            "admittedWorkloads": 0,
        },
    }
