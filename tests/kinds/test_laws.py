"""What holds for all objects: patches make what they are made of, and a stop undoes a start."""

import json
from copy import deepcopy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from queueing.kinds.changes import changes, patch_of
from queueing.kinds.registry import kind_of
from queueing.kinds.starting import start, undo
from queueing.kinds.view import read
from queueing.translate.jobs import batch
from queueing.translate.jobs.injection import Injection
from queueing.translate.jobs.patches import JsonPatch
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.pods import Toleration
from tests.kinds.rows import ROWS, Wire, applied, originals, sample, viewed

words = st.text("abc/~.", min_size=1, max_size=4)
scalars = st.one_of(st.booleans(), st.integers(-9, 9), words)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=3)),
    max_leaves=8,
)
documents = st.dictionaries(words, values, max_size=4)


@given(documents, documents)
def test_a_patch_makes_the_second_document_of_the_first(before: Wire, after: Wire) -> None:
    patch = patch_of(list(changes(before, after)))
    assert written(applied(before, patch)) == written(after)
    assert (patch is None) == (written(before) == written(after))


@given(documents, st.data())
def test_a_change_inside_a_list_of_objects_sends_nothing_else_of_it(
    first: Wire, data: st.DataObject
) -> None:
    entries = [{**first, "same": "x" * 99} for _ in range(3)]
    changed = deepcopy(entries)
    changed[1]["new"] = data.draw(scalars)
    patch = patch_of(list(changes({"list": entries}, {"list": changed})))
    assert isinstance(patch, JsonPatch)
    assert "x" * 99 not in json.dumps(msgspec.to_builtins(patch))


maps = st.one_of(st.none(), st.dictionaries(st.sampled_from("abcd"), words, max_size=3))
tolerations = st.lists(
    st.fixed_dictionaries(
        {"key": words}, optional={"operator": st.just("Exists"), "tolerationSeconds": st.just(0)}
    ),
    max_size=2,
)


@st.composite
def templates(draw: st.DrawFn) -> Wire:
    """Draw a pod template in which anything may be absent or empty."""
    containers = [{"name": "c", "resources": {"limits": {"example.com/gpu": "2", "cpu": "1"}}}]
    spec: Wire = {"containers": containers, "restartPolicy": "Never"}
    metadata: Wire = {}
    for place, name in ((metadata, "labels"), (metadata, "annotations"), (spec, "nodeSelector")):
        if (found := draw(maps)) is not None:
            place[name] = found
    if draw(st.booleans()):
        spec["tolerations"] = draw(tolerations)
    if draw(st.booleans()):
        spec["schedulingGates"] = [{"name": "example.com/own"}]
    written_empty = draw(st.booleans())
    return {"spec": spec} | ({"metadata": metadata} if metadata or written_empty else {})


@st.composite
def injections(draw: st.DrawFn) -> Injection:
    """Draw what an admission may add, under keys of its own."""
    added = st.dictionaries(st.sampled_from(["x.io/1", "x.io/2"]), words, max_size=2)
    gpu = "deviceclass.resource.kubernetes.io/gpu"
    return Injection(
        labels=draw(added),
        annotations=draw(added),
        node_selector=draw(added),
        tolerations=tuple(Toleration(key=one) for one in draw(st.lists(words, max_size=2))),
        scheduling_gates=draw(st.sampled_from([(), ("x.io/gate",)])),
        swaps=draw(st.sampled_from([{}, {"example.com/gpu": gpu}])),
        count=draw(st.integers(1, 6)),
    )


OF_TEMPLATES = {
    "batch/job": ("spec", "template"),
    "jobset.x-k8s.io/jobset": ("spec", "replicatedJobs", 1, "template", "spec", "template"),
    "kubeflow.org/pytorchjob": ("spec", "pytorchReplicaSpecs", "Worker", "template"),
    "ray.io/rayservice": ("spec", "rayClusterConfig", "headGroupSpec", "template"),
}


@given(st.sampled_from(sorted(OF_TEMPLATES)), templates(), st.data())
def test_a_stop_undoes_a_start_to_the_byte(
    framework: str, template: Wire, data: st.DataObject
) -> None:
    row = next(one for one in ROWS if one.framework == framework)
    before = sample(row)
    place: Any = before
    *above, last = OF_TEMPLATES[framework]
    for step in above:
        place = place[step]
    place[last] = template
    view = viewed(row, before)
    added = [data.draw(injections()) for _ in view.pod_sets]
    after = before
    for patch in start(view, added):
        after = applied(after, patch)
    assert not viewed(row, after).suspended
    restored = applied(after, undo(viewed(row, after), originals(view)))
    assert written(restored) == written(before)


counts = st.integers(0, 5)
ranges = st.sampled_from(["", "0", "0-1", "1,3", "2-4"])


@st.composite
def jobs(draw: st.DrawFn) -> Wire:
    """Draw a Job with a status."""
    ends = [{"type": "Suspended", "status": "True"}]
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["Complete", "Failed", "FailureTarget"]))
        holds, message = draw(st.sampled_from(["True", "False"])), draw(st.sampled_from(["", "so"]))
        ends.append({"type": kind, "status": holds, "message": message})
    spec: Wire = {"template": {"spec": {"containers": [{"name": "c"}]}}}
    spec |= draw(st.fixed_dictionaries({}, optional={"suspend": st.booleans()}))
    spec |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "parallelism": st.integers(1, 5),
                "completions": st.integers(5, 8),
                "completionMode": st.sampled_from(["Indexed", "NonIndexed"]),
            },
        )
    )
    status = draw(
        st.fixed_dictionaries(
            {"conditions": st.just(ends)},
            optional={
                "active": counts,
                "ready": counts,
                "succeeded": counts,
                "terminating": counts,
                "completedIndexes": ranges,
                "failedIndexes": ranges,
                "uncountedTerminatedPods": st.just({"succeeded": ["u1", "u2"]}),
            },
        )
    )
    least = draw(st.sampled_from([None, "0", "2", "many", "1e3"]))
    named = {} if least is None else {"kueue.x-k8s.io/job-min-parallelism": least}
    meta = {"name": "j", "namespace": "n", "uid": "u", "annotations": named}
    return {"metadata": meta, "spec": spec, "status": status}


@given(jobs())
def test_a_job_that_is_described_reads_as_one_that_is_known(thing: Wire) -> None:
    raw = msgspec.json.encode(thing)
    known, view = msgspec.json.decode(raw, type=Job), read(kind_of("batch/job"), raw, kept=True)
    (pod_set,) = view.pod_sets
    ended = view.ended
    assert view.metadata == known.metadata
    assert view.suspended == known.spec.suspend
    seen = batch.view(known)
    assert (pod_set.name, pod_set.count) == (batch.MAIN, seen.pods)
    assert pod_set.min_count == seen.least_pods
    assert view.active == seen.active
    assert view.ready == seen.ready
    assert (ended and (ended.succeeded, ended.message)) == seen.end
    if known.spec.completion_mode != "Indexed" or known.spec.completions is not None:
        assert view.reclaimable.get(batch.MAIN, 0) == seen.reclaimable
    assert [msgspec.json.encode(pod_set.wire())] == [
        msgspec.json.encode(one) for one in batch.pod_sets(seen)
    ]


def written(thing: Wire) -> str:
    """Return the bytes that an API server stores."""
    return json.dumps(thing, sort_keys=True)
