import pytest

from queueing.core.settings import Compatibility
from queueing.sim.documents import LIVE, parse
from queueing.sim.intake import read_world


def warnings(text: str) -> tuple[str, ...]:
    documents = parse(text, file="f.yaml")
    return read_world(documents, now=0.0, compatibility=Compatibility.KUEUE).warnings


QUEUE = """\
apiVersion: kueue.x-k8s.io/{version}
kind: ClusterQueue
metadata: {{name: a}}
spec:
  {field}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: f
      resources: [{{name: cpu, nominalQuota: 1{more}}}]
"""
WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: n}
spec:
  podSets:
  - name: main
    template:
      spec:
        TYPO
        containers: [{name: c, image: i}]
STATUS
"""


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param(
            QUEUE.format(version="v1beta2", field="queuingStrategy: StrictFIFO", more=""),
            "f.yaml:5: ClusterQueue a: spec.queuingStrategy: unknown field, left out;"
            " did you mean queueingStrategy?",
            id="a slip of the pen",
        ),
        pytest.param(
            QUEUE.format(version="v1beta2", field="cohort: team", more=""),
            "f.yaml:5: ClusterQueue a: spec.cohort: a field of v1beta1 only, left out;"
            " did you mean cohortName?",
            id="a field of the older version",
        ),
        pytest.param(
            QUEUE.format(version="v1beta1", field="cohortName: team", more=""),
            "f.yaml:5: ClusterQueue a: spec.cohortName: a field of v1beta2 only, left out;"
            " did you mean cohort?",
            id="a field of the newer version",
        ),
        pytest.param(
            QUEUE.format(version="v1beta2", field="cohortName: c", more=", lendinglimit: 1"),
            "f.yaml:10: ClusterQueue a: spec.resourceGroups[0].flavors[0].resources[0]"
            ".lendinglimit: unknown field, left out; did you mean lendingLimit?",
            id="deep inside, on its own line",
        ),
        pytest.param(
            QUEUE.format(version="v1beta2", field="cohort_name: c", more=""),
            "f.yaml:5: ClusterQueue a: spec.cohort_name: unknown field, left out;"
            " did you mean cohortName?",
            id="Python's spelling",
        ),
        pytest.param(
            WORKLOAD.replace("TYPO", "nodeSelectors: {a: b}").replace("STATUS", ""),
            "f.yaml:9: Workload n/w: spec.podSets[0].template.spec.nodeSelectors: unknown field,"
            " left out; did you mean nodeSelector?",
            id="in a pod template",
        ),
        pytest.param(
            WORKLOAD.replace("TYPO", "tolerations: [{keys: a}]").replace(
                "STATUS", "status: {conditions: [{type: Evicted, status: 'False'}]}"
            ),
            "f.yaml:9: Workload n/w: spec.podSets[0].template.spec.tolerations[0].keys: unknown"
            " field, left out; did you mean key?",
            id="beside a status that is not whole",
        ),
        pytest.param(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
            "spec: {driver: d, nodeName: n, pool: {name: p, generation: 1, resourceSliceCount: 1},"
            " devices: [{name: a, capacity: {memory: {values: 1Gi, value: 1Gi}}}]}\n",
            "f.yaml:4: ResourceSlice s: spec.devices[0].capacity.memory.values: unknown field,"
            " left out; did you mean value?",
            id="within a map",
        ),
        pytest.param(
            WORKLOAD.replace("  podSets:", "  priorityClassName: high\n  podSets:")
            .replace("TYPO", "restartPolicy: Never")
            .replace("STATUS", ""),
            "f.yaml:5: Workload n/w: spec.priorityClassName: a field of v1beta1 only, left out;"
            " did you mean priorityClassRef?",
            id="a field that has another form in the newer version",
        ),
    ],
)
def test_an_unknown_field_is_named_with_its_line(text: str, want: str) -> None:
    assert want in warnings(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            WORKLOAD.replace("TYPO", "dnsPolicy: Default").replace("STATUS", ""),
            id="a field of pods that nothing here depends on",
        ),
        pytest.param(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, managedFields: [{manager: m}],"
            " labels: {kueue.x-k8s.io/queue-name: q}}\n"
            "spec: {suspend: true, podFailurePolicy: {rules: []}, template: {spec: {}}}\n",
            id="fields of Jobs and metadata that are not modelled",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"
            "spec: {finalizers: [kubernetes]}\n",
            id="a namespace as the server returns it",
        ),
        pytest.param(
            "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"
            "spec: {podCIDR: 10.0.0.0/24, providerID: aws://1}\n"
            "status: {nodeInfo: {}, conditions: [{type: Ready, status: 'True',"
            " lastHeartbeatTime: '2026-01-01T00:00:00Z'}]}\n",
            id="a node as the server returns it",
        ),
        pytest.param(
            "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\n"
            "spec: {config: [{opaque: {driver: d, parameters: {a: b}}}]}\n",
            id="a device class with the driver's own parameters",
        ),
        pytest.param(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\n"
            "spec: {devices: {config: [{requests: [a]}],"
            " requests: [{name: a, exactly: {deviceClassName: gpu}}]}}\n",
            id="a claim with the driver's own parameters",
        ),
        pytest.param(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
            "spec: {driver: d, nodeName: n, pool: {name: p, generation: 1, resourceSliceCount: 1},"
            " devices: [{name: a, bindsToNode: true,"
            " capacity: {memory: {value: 1Gi, requestPolicy: {default: 1Gi}}}}]}\n",
            id="devices that are bound to their node, with capacity that is requested in parts",
        ),
    ],
)
def test_fields_of_kubernetes_are_known(text: str) -> None:
    assert [one for one in warnings(text) if "unknown field" in one] == []


def test_what_a_cluster_holds_is_not_searched_for_slips_of_the_pen() -> None:
    text = QUEUE.format(version="v1beta2", field="queuingStrategy: StrictFIFO", more="")
    world = read_world(parse(text, file=LIVE), now=0.0, compatibility=Compatibility.KUEUE)
    assert [one for one in world.warnings if "unknown field" in one] == []


def test_a_misspelled_kind_is_asked_about() -> None:
    text = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueu\nmetadata: {name: a}\n"
    (told,) = warnings(text)
    assert told.startswith("f.yaml:1: ClusterQueu (kueue.x-k8s.io/v1beta2) is not known")
    assert told.endswith("; did you mean ClusterQueue?")


@pytest.mark.parametrize(
    ("api_version", "kind", "why"),
    [
        pytest.param("v1", "Pod", "a pod that is on no node takes no room", id="a pod"),
        pytest.param(
            "kustomize.config.k8s.io/v1beta1", "Kustomization", "files", id="a kustomization"
        ),
        pytest.param("kueue.x-k8s.io/v1beta2", "MultiKueueCluster", "MultiKueue", id="a worker"),
    ],
)
def test_kinds_that_nothing_depends_on_are_named(api_version: str, kind: str, why: str) -> None:
    [told] = warnings(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n")
    assert f":1: {kind} ({api_version}) has no effect on a plan" in told
    assert why in told


@pytest.mark.parametrize(
    ("gates", "want"),
    [
        pytest.param("{ShortWorkloadNames: true}", True, id="switched on, to no effect"),
        pytest.param("{ShortWorkloadNames: false}", False, id="left as it is"),
        pytest.param("{PartialAdmission: false}", False, id="honoured"),
    ],
)
def test_a_gate_that_changes_nothing_is_named(gates: str, *, want: bool) -> None:
    told = warnings(
        f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfeatureGates: {gates}\n"
    )
    assert any("changes nothing here" in one for one in told) is want


def test_a_setting_that_would_change_decisions_and_does_not_is_named() -> None:
    [told] = warnings(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "multiKueue: {workerLostTimeout: 1m}\n"
    )
    assert told == "multiKueue has no effect: there is no MultiKueue"


SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n"
DAEMON_SET = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: x}\n"
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: n}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
"""


@pytest.mark.parametrize(
    ("document", "want"),
    [
        pytest.param(SERVICE, "f.yaml:1: Service (v1) is not known and was left out", id="unknown"),
        pytest.param(
            DAEMON_SET,
            "f.yaml:1: DaemonSet (apps/v1) is not known and was left out",
            id="of a group with kinds that are queued",
        ),
    ],
)
def test_a_kind_that_is_left_out_is_told_in_one_line_for_all_its_objects(
    document: str, want: str
) -> None:
    assert warnings(document) == (want,)
    assert warnings("---\n".join([document] * 3)) == (
        f"{want} (3 objects, the first of them here)",
    )


def test_a_kind_is_told_once_for_all_files() -> None:
    documents = [*parse(DAEMON_SET, file="a.yaml"), *parse(DAEMON_SET, file="b.yaml")]
    (told,) = read_world(documents, now=0.0, compatibility=Compatibility.KUEUE).warnings
    assert told.startswith("a.yaml:1: DaemonSet")


def test_jobs_that_name_no_queue_are_told_in_one_line() -> None:
    told = "Job n/a has no label kueue.x-k8s.io/queue-name, so it is not queued"
    jobs = [JOB.replace("NAME", name) for name in "abc"]
    assert warnings(jobs[0]) == (told,)
    assert warnings("---\n".join(jobs)) == (f"{told} (and 2 more Jobs)",)


def test_only_unknown_fields_are_told_apart_from_other_warnings() -> None:
    text = QUEUE.format(version="v1beta2", field="cohort: team", more="") + "---\n" + SERVICE
    world = read_world(parse(text, file="f.yaml"), now=0.0, compatibility=Compatibility.KUEUE)
    (told,) = world.unknown_fields
    assert "spec.cohort: a field of v1beta1 only" in told
    assert told in world.warnings
    assert len(world.warnings) > 1
