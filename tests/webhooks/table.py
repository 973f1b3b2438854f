"""The table of what is refused and why, read from the files beside it.

A row is an object as it would be and, for a change, as it was. `says` is part of the refusal;
without it the object is accepted. `natively` is what the API server says instead when it refuses
the object by its own rules before it asks anybody.

`code` is the HTTP code of a refusal: 403 where a policy or webhook refuses, which is what a row
without it means, and 422 where the definition of the kind does, or the API server natively. A file
whose rows are all of one code says so once.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

CASES = Path(__file__).parent / "cases"
Wire = dict[str, Any]
BY_ADMISSION = 403
BY_DEFINITION = 422
REASONS = {BY_ADMISSION: "Forbidden", BY_DEFINITION: "Invalid"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    kind: str
    name: str
    new: Wire
    old: Wire | None = None
    says: str = ""
    natively: str = ""
    code: int = BY_ADMISSION
    around: Mapping[str, bool] = field(default_factory=dict)
    """What surrounds the object: `default_queue`, a LocalQueue of that name beside it;
    `reject_unknown_flavors`, the gate of that rule."""

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.name}"


def rows() -> list[Row]:
    """Return every row: those of the files, in order, and those too large to write down."""
    return [*written(), *large()]


def large() -> list[Row]:
    """Make the rows about how much one ClusterQueue may hold."""

    def queue(name: str, *groups: tuple[int, int], says: str = "") -> Row:
        wire = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ClusterQueue",
            "metadata": {"name": "large"},
            "spec": {"resourceGroups": [group(place, *size) for place, size in enumerate(groups)]},
        }
        return Row(kind="ClusterQueue", name=name, new=wire, says=says, code=BY_DEFINITION)

    def group(place: int, flavors: int, resources: int) -> Wire:
        names = [f"example.com/r{place}-{number}" for number in range(resources)]
        quotas = [{"name": name, "nominalQuota": "1"} for name in names]
        return {
            "coveredResources": names,
            "flavors": [{"name": f"f{place}-{n}", "resources": quotas} for n in range(flavors)],
        }

    many = "total number of {} across all resourceGroups must be \N{LESS-THAN OR EQUAL TO} 256"
    pairs = "number of flavor-resource combinations in a resourceGroup must be"
    return [
        queue("as many flavors as can be", (64, 1), (64, 1), (64, 1), (64, 1)),
        queue("a flavor too many", *[(64, 1)] * 4, (1, 1), says=many.format("flavors")),
        queue("as many resources as can be", (1, 64), (1, 64), (1, 64), (1, 64)),
        queue("a resource too many", *[(1, 64)] * 4, (1, 1), says=many.format("covered resources")),
        queue("as many pairs as can be", (8, 64)),
        queue("a pair too many", (19, 27), says=pairs),
    ]


@cache
def written() -> tuple[Row, ...]:
    """Read the rows of the files, once for all modules of tests."""
    return tuple(
        row_of(table, case)
        for file in sorted(CASES.glob("*.yaml"))
        for table in [yaml.load(file.read_text(), Loader=yaml.CSafeLoader)]
        for case in table["cases"]
    )


def row_of(table: Wire, case: Wire) -> Row:
    """Merge a case into the base of its table."""
    unknown = case.keys() - {"id", "set", "old", "says", "natively", "code", "around"}
    if unknown:
        raise ValueError(f"{table['kind']}: {case['id']}: unknown {sorted(unknown)}")
    return Row(
        kind=table["kind"],
        name=case["id"],
        new=merged(table["base"], case.get("set", {})),
        old=merged(table["base"], case["old"]) if "old" in case else None,
        says=case.get("says", ""),
        natively=case.get("natively", ""),
        code=int(case.get("code") or table.get("code") or BY_ADMISSION),
        around=case.get("around", {}),
    )


def merged(base: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def merge_patch(before: Any, after: Any) -> Any:
    """Return the JSON merge patch that makes `after` of `before`."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return copy.deepcopy(after)
    gone = {key: None for key in before if key not in after}
    return gone | {
        key: merge_patch(before.get(key), value)
        for key, value in after.items()
        if key not in before or before[key] != value
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """A Job or a pod as it is sent, and what of it is to be as it is created."""

    id: str
    job: Wire
    around: Mapping[str, bool]
    want: Wire


def defaults() -> list[Default]:
    """Read the table of what is filled in."""
    return [
        Default(
            id=row["id"],
            job=_sent(row),
            around=row.get("around", {}),
            want=row["want"],
        )
        for row in yaml.load((CASES.parent / "defaults.yaml").read_text(), Loader=yaml.CSafeLoader)
    ]


def _sent(row: Wire) -> Wire:
    owner = row.get("owner")
    reference = {**(owner or {}), "name": "owner", "uid": "1", "controller": True}
    metadata = {
        "name": "sent",
        "labels": row.get("labels", {}),
        **({"ownerReferences": [reference]} if owner else {}),
    }
    template = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    if "pod" not in row:
        spec = {"template": {"spec": template}}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template}
    queued: Wire = merged(pod, row["pod"])
    return queued


def filled_in(job: Wire) -> Wire:
    """Return what a row wants to know of a Job, or a pod."""
    labels, spec = job["metadata"].get("labels", {}), job["spec"]
    if job["kind"] == "Job":
        return {"labels": labels, "suspend": spec.get("suspend", False)}
    return {
        "labels": labels,
        "finalizers": job["metadata"].get("finalizers", []),
        "gates": [one["name"] for one in spec.get("schedulingGates", [])],
    }
