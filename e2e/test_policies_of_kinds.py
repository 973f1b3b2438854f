"""What is filled in and refused of every kind that a field suspends."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.described import OF_KUBERNETES
from e2e.job_controllers import apply_definition
from e2e.loopback import control_plane
from e2e.objects import PRIORITY_CLASS, QUEUE_NAME, local_queue, workload_priority
from e2e.product import install
from e2e.serving import serving, until
from e2e.wire import ApiError, Object
from queueing.controller.admission_policies.rendering import (
    PolicyRules,
    render,
    render_validation,
)
from queueing.core.selectors import Selector
from queueing.kinds.registry import FRAMEWORKS
from queueing.webhooks import configurations
from queueing.webhooks.scope import Scope
from queueing.webhooks.suspension import JOB, QueuedKind, SuspendedKind, kinds_on
from queueing_api.queueing.v1alpha1.queueable_kind import FixedField
from tests.webhooks import marked_rows
from tests.webhooks.marked_rows import Change, Marked, marks_of

OWN = SuspendedKind(
    group="lab.example.com",
    version="v1",
    kind="Experiment",
    plural="experiments",
    field="spec.run-rules.onHold",
    fixed=(
        FixedField(path="spec.trials", entries=["seed"], when="Queued"),
        FixedField(path="spec.budget"),
    ),
)
KINDS = (*kinds_on(FRAMEWORKS, {"SparkApplicationIntegration": True}), OWN)
OTHERS = [one for one in KINDS if isinstance(one, SuspendedKind) and one != JOB]
RULES = PolicyRules(
    namespaces=Selector(), without_queue_name=False, namespace="kueue-system", kinds=KINDS
)
PLAIN, DOOR = "plain", "door"
each_kind = pytest.mark.parametrize("kind", [pytest.param(one, id=one.kind) for one in OTHERS])
LEAST: Object = {"RayJob": {"rayClusterSpec": {}, "shutdownAfterJobFinishes": True}}
"""What an object cannot be without, by kind."""
_KEPT = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@pytest.fixture(scope="module")
def place(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane with all kinds, and a namespace with a default queue."""
    with control_plane(built) as cluster:
        install(cluster)
        api = cluster.api()
        for name in (PLAIN, DOOR):
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        api.create(local_queue(DOOR, "default", "team"))
        api.create(workload_priority("default", 5))
        for one in KINDS:
            if one.group not in OF_KUBERNETES:
                apply_definition(cluster, definition(one))
        yield cluster


@contextmanager
def applied(api: Api, items: Sequence[Object]) -> Iterator[Api]:
    """Apply for a while."""
    for item in items:
        api.apply(item)
    try:
        yield api
    finally:
        for item in items:
            api.delete(f"{item['apiVersion']}/{item['kind']}", item["metadata"]["name"])


@pytest.fixture(scope="module")
def refusing(place: Cluster) -> Iterator[Api]:
    with applied(place.api(), [wire for _, wire in render_validation(RULES)]) as api:
        yield api


IMMUTABLE = "field is immutable"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"


@each_kind
def test_what_is_refused_of_a_new_one(refusing: Api, kind: SuspendedKind) -> None:
    told = f'"{kind.api_version}, Kind={kind.kind}"'
    bad: list[tuple[Object, str]] = [
        ({"labels": {QUEUE_NAME: "Team_A"}}, "a lowercase RFC 1123 subdomain"),
        ({"labels": {QUEUE_NAME: "team", MAX_TIME: "0"}}, "should be greater than 0"),
    ]
    elastic: Object = {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}
    prebuilt: Object = {"labels": {QUEUE_NAME: "team", PREBUILT: "made"}}
    able: list[Object] = [{}]
    for can, more, says in (
        (kind.elastic, elastic, f"elastic job is not supported for {told}"),
        (kind.prebuilt, prebuilt, f"Is not supported for {told}"),
    ):
        if can:
            able.append(more)
        else:
            bad.append((more, says))
    for more, says in bad:
        wrong = thing(kind, PLAIN, queue="team", **more)
        until(lambda: says in refusal(refusing, wrong), f"{kind.kind} is refused: {says}")  # noqa: B023
    for more in able:
        assert not refusal(refusing, thing(kind, PLAIN, queue="team", **more))


@each_kind
def test_what_is_refused_of_one_that_runs(refusing: Api, kind: SuspendedKind) -> None:
    name = refusing.create(thing(kind, PLAIN, queue="team"))["metadata"]["name"]
    held = nested(kind.field, value=True)
    for labels, says in (
        ({QUEUE_NAME: "other"}, IMMUTABLE),
        ({MAX_TIME: "5"}, IMMUTABLE),
        ({PRIORITY_CLASS: "late"}, "cannot be added to a non-suspended workload"),
    ):
        change = {"metadata": {"labels": labels}}
        until(
            lambda: says in refused_change(refusing, kind, PLAIN, name, change),  # noqa: B023
            f"{kind.kind}: {says}",
        )
        assert not refused_change(refusing, kind, PLAIN, name, {**change, **held})


@each_kind
def test_a_suspended_one_keeps_a_queue_beside_a_default_one(
    refusing: Api, kind: SuspendedKind
) -> None:
    held = nested(kind.field, value=True)
    made = refusing.create(thing(kind, DOOR, queue="team", spec=held["spec"]))
    name, change = made["metadata"]["name"], {"metadata": {"labels": {QUEUE_NAME: None}}}
    says = "queue-name must not be empty in namespace with default queue"
    until(lambda: says in refused_change(refusing, kind, DOOR, name, change), kind.kind)


def test_fixed_fields_of_a_described_kind_stay(refusing: Api) -> None:
    spec = {"budget": 5, "trials": [{"seed": 1, "note": "a"}], "run-rules": {"onHold": True}}
    name = refusing.create(thing(OWN, PLAIN, queue="team", spec=spec))["metadata"]["name"]

    def refused(**change: Any) -> str:
        return refused_change(refusing, OWN, PLAIN, name, {"spec": change})

    until(lambda: IMMUTABLE in refused(trials=[{"seed": 2}]), "seeds are fixed")
    assert IMMUTABLE in refused(trials=[])
    assert not refused(trials=[{"seed": 1, "note": "b"}])
    assert not refused(budget=6)
    change = {"spec": {"run-rules": {"onHold": False}}}
    refusing.patch(f"{OWN.api_version}/{OWN.kind}", name, change, namespace=PLAIN)
    assert IMMUTABLE in refused(budget=6)


@pytest.fixture(scope="module", params=["policies", "webhooks"])
def filling(place: Cluster, request: pytest.FixtureRequest) -> Iterator[Api]:
    """Lend an API server where objects are filled in, on newer servers and on older ones.

    Who answers webhooks knows none of the kinds by name.
    """
    if request.param == "policies":
        with applied(place.api(), [wire for _, wire in render(RULES)]) as api:
            yield api
        return
    scope = Scope(namespaces=Selector(), minor=34, kinds=KINDS)
    with serving(place, {"managedJobsNamespaceSelector": {}}) as served:
        mutating = served.called_by_url(configurations.render(scope)[0])
        with applied(place.api(), [mutating]) as api:
            yield api


@each_kind
def test_a_queued_one_is_suspended_and_gets_the_default_class(
    filling: Api, kind: SuspendedKind
) -> None:
    def suspended() -> bool:
        made = tried(filling, thing(kind, PLAIN, queue="team"))
        found = made["metadata"]["labels"] == {QUEUE_NAME: "team", PRIORITY_CLASS: "default"}
        return is_suspended(kind, made) and found

    until(suspended, f"{kind.kind} is suspended")
    assert not is_suspended(kind, tried(filling, thing(kind, PLAIN)))


@each_kind
def test_one_without_a_queue_gets_the_default_one_unless_its_owner_queues(
    filling: Api, kind: SuspendedKind
) -> None:
    def queued() -> bool:
        made = tried(filling, thing(kind, DOOR))
        label = made["metadata"].get("labels", {}).get(QUEUE_NAME)
        return is_suspended(kind, made) and label == "default"

    until(queued, f"{kind.kind} is queued by default")
    assert not is_suspended(kind, tried(filling, below_a_jobset(thing(kind, DOOR))))


@each_kind
def test_one_with_a_queue_runs_at_once_below_an_object_that_queues(
    filling: Api, kind: SuspendedKind
) -> None:
    def suspended() -> bool:
        return is_suspended(kind, tried(filling, thing(kind, PLAIN, queue="team")))

    until(suspended, f"{kind.kind} is suspended")
    assert not is_suspended(kind, tried(filling, below_a_jobset(thing(kind, PLAIN, queue="team"))))


each_marked = pytest.mark.parametrize(
    "marked", [pytest.param(one, id=one.kind) for one in marked_rows.KINDS]
)


@each_marked
def test_templates_of_one_whose_pods_are_queued_are_marked(filling: Api, marked: Marked) -> None:
    made = marked.thing({QUEUE_NAME: "team"}, namespace=PLAIN)

    def is_marked() -> bool:
        found = marks_of(tried(filling, made), marked)
        return all(parent == marked.framework for parent, _, _ in found) and all(
            labels == marked.labels | ({QUEUE_NAME, PRIORITY_CLASS} if marked.copies else set())
            for _, labels, _ in found
        )

    until(is_marked, f"{marked.kind} is marked")
    unqueued = marked.thing(namespace=PLAIN)
    assert {parent for parent, _, _ in marks_of(tried(filling, unqueued), marked)} == {""}
    below = below_a_jobset(made)
    assert {parent for parent, _, _ in marks_of(tried(filling, below), marked)} == {""}


@each_marked
def test_one_whose_pods_are_queued_gets_the_default_queue(filling: Api, marked: Marked) -> None:
    def is_marked() -> bool:
        made = tried(filling, marked.thing(namespace=DOOR))
        found = marks_of(made, marked)
        return made["metadata"]["labels"].get(QUEUE_NAME) == "default" and all(
            parent == marked.framework for parent, _, _ in found
        )

    until(is_marked, f"{marked.kind} is queued by default")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(one, id=f"{one.kind}: {one.name}")
        for one in marked_rows.CHANGES
        # A class that is taken away may be filled in again: what fills in is applied beside this.
        if "status" not in one.of and one.name != "no class"
    ],
)
def test_what_is_refused_of_one_whose_pods_are_queued(refusing: Api, change: Change) -> None:
    def told() -> str:
        if change.old is None:
            return refusal(refusing, placed(change.new))
        made = refusing.create(placed(change.old))
        kind = next(one for one in KINDS if one.kind == change.kind)
        assert change.to is not None
        try:
            return refused_change(refusing, kind, PLAIN, made["metadata"]["name"], change.to)
        finally:
            refusing.delete(f"{kind.api_version}/{kind.kind}", made["metadata"]["name"], PLAIN)

    if change.says:
        until(lambda: is_about(change, told()), change.name)
    else:
        assert not told()


def is_about(change: Change, said: str) -> bool:
    """Say whether the API server says what a table does; it never shows the value."""
    path, _, message = change.says.rpartition(": ")
    return message in said and path.partition(":")[0] in said


def placed(thing: Object) -> Object:
    """Return an object of a table under a name of its own in a namespace, without replicas."""
    metadata = {key: value for key, value in thing["metadata"].items() if key != "name"}
    return {**thing, "metadata": {**metadata, "generateName": "any-", "namespace": PLAIN}}


def below_a_jobset(owned: Object) -> Object:
    """Return an object as the controller of a JobSet would make it."""
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "controller": True}
    owned["metadata"]["ownerReferences"] = [{**jobset, "name": "owner", "uid": "1"}]
    return owned


def definition(kind: QueuedKind) -> Object:
    """Return a definition that keeps every field."""
    schema = {"type": "object", "properties": {"spec": _KEPT, "status": _KEPT}}
    version = {"name": kind.version, "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.plural}.{kind.group}",
            # Some of the groups are Kubernetes' own to approve.
            "annotations": {"api-approved.kubernetes.io": "unapproved, of a test"},
        },
        "spec": {
            "group": kind.group,
            "names": {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()},
            "scope": "Namespaced",
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def thing(
    kind: SuspendedKind, namespace: str, *, queue: str = "", spec: Object | None = None, **more: Any
) -> Object:
    """Return an object without any map on the way to the field that suspends it.

    Only of a RayJob more is asked than that.
    """
    labels = {"labels": {QUEUE_NAME: queue}} if queue else {}
    metadata = {"generateName": "any-", "namespace": namespace, **labels, **more}
    made = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
    return copy.deepcopy({**made, "spec": {**LEAST.get(kind.kind, {}), **(spec or {})}})


def path_of(item: Object) -> str:
    kind = next(
        one for one in KINDS if (one.api_version, one.kind) == (item["apiVersion"], item["kind"])
    )
    place = f"namespaces/{item['metadata']['namespace']}/{kind.plural}"
    return f"/apis/{kind.api_version}/{place}"


def tried(api: Api, item: Object) -> Object:
    """Return an object as it would be created."""
    made: Object = api.wire.call("POST", path_of(item), query={"dryRun": "All"}, body=item)
    return made


def refusal(api: Api, item: Object) -> str:
    """Return why an object would not be created; empty when it would."""
    try:
        tried(api, item)
    except ApiError as error:
        return error.message
    return ""


def refused_change(api: Api, kind: QueuedKind, namespace: str, name: str, change: Object) -> str:
    """Return why an object would not be changed; empty when it would."""
    path = f"/apis/{kind.api_version}/namespaces/{namespace}/{kind.plural}/{name}"
    merge = "application/merge-patch+json"
    try:
        api.wire.call("PATCH", path, query={"dryRun": "All"}, body=change, content_type=merge)
    except ApiError as error:
        return error.message
    return ""


def nested(path: str, *, value: Any) -> Object:
    for step in reversed(path.split(".")):
        value = {step: value}
    return dict(value)


def is_suspended(kind: SuspendedKind, item: Object) -> bool:
    found: Any = item
    for step in kind.field.split("."):
        found = (found or {}).get(step)
    return found is True
