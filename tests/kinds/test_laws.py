"""What holds for all objects: patches make what they are made of, and a stop undoes a start."""

import json
from copy import deepcopy
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from queueing.kinds.starting import changes, patch_of, start, undo
from queueing.translate.jobs.injection import Injection
from queueing.translate.jobs.patches import JsonPatch
from queueing.translate.wire.pods import Toleration
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
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
    patch = patch_of(changes(before, after))
    assert written(applied(before, patch)) == written(after)
    assert (patch is None) == (written(before) == written(after))


@given(documents, st.data())
def test_a_change_inside_a_list_of_objects_sends_nothing_else_of_it(
    first: Wire, data: st.DataObject
) -> None:
    entries = [{**first, "same": "x" * 99} for _ in range(3)]
    changed = deepcopy(entries)
    changed[1]["new"] = data.draw(scalars)
    patch = patch_of(changes({"list": entries}, {"list": changed}))
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
    limits = {"cpu": "1", "example.com/gpu": "2", "example.com/nic": "1"}
    containers = [{"name": "c", "resources": {"limits": limits}}]
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
    gpu, nic = (f"deviceclass.resource.kubernetes.io/{one}" for one in ("slow-gpu", "nic"))
    both = {"example.com/gpu": gpu, "example.com/nic": nic}
    return Injection(
        labels=draw(added),
        annotations=draw(added),
        node_selector=draw(added),
        tolerations=tuple(Toleration(key=one) for one in draw(st.lists(words, max_size=2))),
        scheduling_gates=draw(st.sampled_from([(), ("x.io/gate",)])),
        swaps=draw(st.sampled_from([{}, {"example.com/gpu": gpu}, both])),
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
    after = json.loads(json.dumps(after, sort_keys=True))  # as the API server keeps maps
    assert not viewed(row, after).suspended
    restored = applied(after, undo(viewed(row, after), originals(view)))
    assert written(restored) == written(before)


def without_empties(thing: Any) -> Any:
    """Leave out what the API server leaves out of its own kinds: maps and lists that are empty."""
    if isinstance(thing, list):
        return [without_empties(one) for one in thing]
    if not isinstance(thing, dict):
        return thing
    kept = {key: without_empties(value) for key, value in thing.items()}
    return {key: value for key, value in kept.items() if value not in ({}, [])}


@given(templates(), injections())
def test_a_job_is_restored_by_what_is_watched_of_its_workload(
    template: Wire, added: Injection
) -> None:
    metadata = {"name": "j", "namespace": "n", "uid": "u"}
    spec = {"suspend": True, "template": without_empties(template)}
    before = {"metadata": metadata, "spec": spec}
    job = batch_job(before)
    made = {"metadata": {"name": "w"}, "spec": {"podSets": job.wire_pod_sets()}}
    workload = msgspec.json.decode(msgspec.json.encode(made), type=Workload)
    assert not job.differs(workload)
    running = before
    for patch in job.start([added]):
        running = without_empties(applied(running, patch))
    stopped = batch_job(running).undo(workload, b"")
    assert written(without_empties(applied(running, stopped))) == written(before)


def written(thing: Wire) -> str:
    """Return the bytes that an API server stores."""
    return json.dumps(thing, sort_keys=True)
