"""A batch/v1 Job for a test, seen as a watch shows it."""

from typing import Any

import msgspec

from queueing.kinds.jobs import DescribedJob
from queueing.kinds.registry import read_batch_job


def batch_job(document: dict[str, Any]) -> DescribedJob:
    """Read a Job; a template that a test says nothing of has a container, as every Job's does."""
    template = document.get("spec", {}).get("template", {})
    pod = {"containers": [{"name": "c"}]} | template.get("spec", {})
    spec = document.get("spec", {}) | {"template": template | {"spec": pod}}
    return read_batch_job(msgspec.json.encode(document | {"spec": spec}))
