from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from queueing_api.config.duration import duration_text, seconds_of
from queueing_api.config.load import ConfigurationError, load
from queueing_api.config.v1beta2 import Configuration

HEAD = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
OLD_HEAD = {**HEAD, "apiVersion": "config.kueue.x-k8s.io/v1beta1"}
MANIFEST = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health:
  healthProbeBindAddress: :8081
metrics:
  bindAddress: :8443
webhook:
  port: 9443
leaderElection:
  leaderElect: true
  resourceName: c1f6bfd2.kueue.x-k8s.io
controller:
  groupKindConcurrency:
    Job.batch: 5
    Pod: 5
    Workload.kueue.x-k8s.io: 10
clientConnection:
  qps: 50
  burst: 100
waitForPodsReady:
  timeout: 5m
  requeuingStrategy:
    backoffLimitCount: 3
fairSharing:
  preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]
admissionFairSharing:
  usageHalfLifeTime: 168h
  resourceWeights:
    cpu: 2.0
integrations:
  frameworks: [batch/job, pod]
  externalFrameworks: [Foo.v1.example.com]
  labelKeysToCopy: [team]
managedJobsNamespaceSelector:
  matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values: [kube-system, kueue-system]
resources:
  excludeResourcePrefixes: [example.com]
  transformations:
  - input: nvidia.com/mig-1g.5gb
    strategy: Replace
    outputs:
      nvidia.com/accelerator-memory: 5Ki
  deviceClassMappings:
  - name: gpus
    deviceClassNames: [gpu.example.com]
    sources:
    - counter: {name: memory, driver: gpu.example.com, deviceSelector: "true"}
featureGates:
  TopologyAwareScheduling: true
objectRetentionPolicies:
  workloads:
    afterFinished: 1h30m
"""


def problems(**fields: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as refused:
        load(yaml.safe_dump({**HEAD, **fields}), "config.yaml")
    assert all(line.startswith("config.yaml: ") for line in str(refused.value).splitlines())
    return refused.value.problems


def read(**fields: Any) -> Configuration:
    return load(yaml.safe_dump({**HEAD, **fields}))


def test_an_empty_file_gives_the_defaults() -> None:
    defaults = load("")
    assert defaults.namespace == "kueue-system"
    assert defaults.leader_election.resource_name == "c1f6bfd2.kueue.x-k8s.io"
    assert defaults.leader_election.lease_duration == 15.0
    assert defaults.wait_for_pods_ready.timeout == 1800.0
    assert defaults.wait_for_pods_ready.requeuing_strategy.backoff_max_seconds == 3600
    assert defaults.integrations.frameworks == ["batch/job"]
    assert (defaults.client_connection.qps, defaults.client_connection.burst) == (300.0, 500)
    assert defaults.fair_sharing is None
    assert defaults.visibility_server.bind_port == 8082


def test_a_whole_file_is_read() -> None:
    whole = load(MANIFEST)
    assert whole.wait_for_pods_ready.timeout == 300.0
    assert whole.controller.group_kind_concurrency["Job.batch"] == 5
    assert whole.admission_fair_sharing is not None
    assert whole.admission_fair_sharing.usage_half_life_time == 7 * 24 * 3600
    assert whole.object_retention_policies is not None
    assert whole.object_retention_policies.workloads is not None
    assert whole.object_retention_policies.workloads.after_finished == 5400.0
    assert whole.resources.transformations[0].outputs == {"nvidia.com/accelerator-memory": "5Ki"}


def test_jobs_of_the_system_are_left_alone_unless_somebody_says_otherwise() -> None:
    chosen = read(namespace="mine").namespaces()
    assert chosen.match_expressions[0].values == ["kube-system", "mine"]
    assert read(
        managedJobsNamespaceSelector={"matchLabels": {"a": "b"}}
    ).namespaces().match_labels == {"a": "b"}


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        pytest.param(
            {"watForPodsReady": {}},
            "watForPodsReady: Invalid value: {}: unknown field",
            id="a typo",
        ),
        pytest.param(
            {"webhook": {"port": 99999}},
            "webhook.port: Invalid value: 99999: ",
            id="a port beyond all",
        ),
        pytest.param(
            {
                "managedJobsNamespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "Is"}]
                }
            },
            "matchExpressions[0].operator: 'Is' should be one of In, NotIn, Exists, DoesNotExist",
            id="a demand that nobody knows",
        ),
        pytest.param(
            {
                "managedJobsNamespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "In"}]
                }
            },
            "matchExpressions[0].values: required with operator In",
            id="a demand without values",
        ),
        pytest.param(
            {"visibilityServer": {"bindAddress": "here"}},
            'visibilityServer.bindAddress: Invalid value: "here": must be a valid IP address',
            id="an address that is none",
        ),
        pytest.param(
            {"waitForPodsReady": {"timeout": "-5m"}},
            'waitForPodsReady.timeout: Invalid value: "-5m": must be greater than or equal to 0',
            id="a negative duration",
        ),
        pytest.param(
            {"waitForPodsReady": {"timeout": "5 minutes"}},
            'waitForPodsReady.timeout: Invalid value: "5 minutes": must be a duration',
            id="a duration in words",
        ),
        pytest.param(
            {"waitForPodsReady": {"requeuingStrategy": {"backoffBaseSeconds": -1}}},
            "waitForPodsReady.requeuingStrategy.backoffBaseSeconds: Invalid value: -1: ",
            id="a negative backoff",
        ),
        pytest.param(
            {"waitForPodsReady": {"requeuingStrategy": {"timestamp": "Never"}}},
            'requeuingStrategy.timestamp: Unsupported value: "Never": supported values: ',
            id="an unknown timestamp",
        ),
        pytest.param(
            {"integrations": {"frameworks": ["batch/cron"]}},
            'integrations.frameworks[0]: Invalid value: "batch/cron": is not supported; supported',
            id="an unknown framework",
        ),
        pytest.param(
            {"integrations": {"externalFrameworks": ["Foo"]}},
            "must be format, 'Kind.version.group.com'",
            id="an external framework without a group",
        ),
        pytest.param(
            {"integrations": {"frameworks": ["pod"]}, "managedJobsNamespaceSelector": {}},
            "managedJobsNamespaceSelector: cannot be empty when pod integration is enabled",
            id="pods of the system itself",
        ),
        pytest.param(
            {
                "integrations": {"frameworks": ["pod"]},
                "managedJobsNamespaceSelector": {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "NotIn",
                            "values": ["kueue-system"],
                        }
                    ]
                },
            },
            'should not match the "kube-system" namespace',
            id="pods of the system by a selector",
        ),
        pytest.param(
            {"fairSharing": {}},
            "fairSharing.preemptionStrategies: Required value: must be specified",
            id="fair sharing without strategies",
        ),
        pytest.param(
            {"fairSharing": {"preemptionStrategies": ["LessThanInitialShare"] * 2}},
            "preemptionStrategies must be specified as one of",
            id="a list of strategies that is not allowed",
        ),
        pytest.param(
            {"fairSharing": {"preemptionStrategies": ["Coin"]}},
            'fairSharing.preemptionStrategies[0]: Unsupported value: "Coin"',
            id="an unknown strategy",
        ),
        pytest.param(
            {"admissionFairSharing": {"usageHalfLifeTime": "1h", "resourceWeights": {"cpu": -1.0}}},
            "admissionFairSharing.resourceWeights.cpu: Invalid value: -1.0: ",
            id="a negative weight",
        ),
        pytest.param(
            {"resources": {"transformations": [{"input": "a"}, {"input": "a"}]}},
            'transformations: Duplicate value: input "a"',
            id="a resource transformed twice",
        ),
        pytest.param(
            {"resources": {"deviceClassMappings": [{"name": "g", "deviceClassNames": []}]}},
            "resources.deviceClassMappings[0].deviceClassNames: Invalid value: []: ",
            id="a mapping of no class",
        ),
        pytest.param(
            {
                "resources": {
                    "deviceClassMappings": [
                        {"name": "g", "deviceClassNames": ["c"]},
                        {"name": "h", "deviceClassNames": ["c"]},
                    ]
                }
            },
            'deviceClassNames "c" is given more than once',
            id="a class in two mappings",
        ),
        pytest.param(
            {
                "resources": {
                    "deviceClassMappings": [
                        {"name": "g", "deviceClassNames": ["c"], "sources": [{}]}
                    ]
                }
            },
            "sources[0]: exactly one source type must be set per entry",
            id="a source of no type",
        ),
        pytest.param(
            {"featureGates": {"A": "yes"}},
            'featureGates.A: Invalid value: "yes"',
            id="a gate in words",
        ),
        pytest.param(
            {"apiVersion": "config.kueue.x-k8s.io/v1alpha1"},
            'apiVersion: Unsupported value: "config.kueue.x-k8s.io/v1alpha1"',
            id="a version that is not read",
        ),
        pytest.param(
            {"leaderElection": {"leaseDuration": "5s"}},
            "leaderElection: leaseDuration must be greater than renewDeadline",
            id="a lease that ends before it is given up",
        ),
        pytest.param(
            {"leaderElection": {"retryPeriod": "9s"}},
            "leaderElection: renewDeadline must be greater than retryPeriod * 1.2",
            id="no time for a second try",
        ),
        pytest.param(
            {"metrics": {"customLabels": [{"name": "team"}, {"name": "team"}]}},
            'metrics: customLabels: Duplicate value: name "team"',
            id="two metric labels of one name",
        ),
        pytest.param(
            {"metrics": {"customLabels": [{"name": f"l{i}"} for i in range(7)]}},
            "metrics: customLabels: 7 labels of ClusterQueue: must have at most 6",
            id="too many metric labels",
        ),
        pytest.param(
            {"metrics": {"customLabels": [{"name": "team", "sourceKind": "Workload"}]}},
            "metrics.customLabels[0]: trackedValues: labels of Workloads must have 1 to 12 values",
            id="a metric label of endless values",
        ),
        pytest.param({"kind": "Deployment"}, 'kind: Unsupported value: "Deployment"', id="a kind"),
    ],
)
def test_a_mistake_is_told_with_its_field_and_value(fields: dict[str, Any], want: str) -> None:
    (problem,) = problems(**fields)
    assert want in problem


def test_all_mistakes_are_told_at_once() -> None:
    assert len(problems(webhook={"port": -1}, namespace=7, extra=1)) == 3


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("a: [", "is not YAML"),
        ("- a", "must be a mapping"),
        ("{}", "apiVersion: Required value"),
        ("!!python/object:os.system {}", "is not YAML"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(text: str, want: str) -> None:
    with pytest.raises(ConfigurationError, match=want):
        load(text)


@pytest.mark.parametrize("head", [HEAD, OLD_HEAD], ids=["v1beta2", "v1beta1"])
@pytest.mark.parametrize(
    ("blank", "unsaid"),
    [
        pytest.param({"waitForPodsReady": None}, {}, id="a block"),
        pytest.param({"integrations": {"frameworks": None}}, {}, id="a list"),
        pytest.param({"featureGates": None}, {}, id="a map"),
        pytest.param({"namespace": None}, {}, id="a word"),
        pytest.param(
            {"resources": {"transformations": [{"input": "cpu", "strategy": None}]}},
            {"resources": {"transformations": [{"input": "cpu"}]}},
            id="within a list",
        ),
    ],
)
def test_what_is_written_without_a_value_has_its_default(
    head: dict[str, Any], blank: dict[str, Any], unsaid: dict[str, Any]
) -> None:
    assert load(yaml.safe_dump({**head, **blank})) == load(yaml.safe_dump({**head, **unsaid}))


def test_a_gate_without_a_value_is_a_mistake() -> None:
    assert "featureGates.PartialAdmission" in problems(featureGates={"PartialAdmission": None})[0]


def test_times_of_day_are_not_read_as_numbers() -> None:
    with pytest.raises(ConfigurationError, match='"2026-01-31"'):
        load(f"{yaml.safe_dump(HEAD)}\nwaitForPodsReady: {{timeout: 2026-01-31}}")


@pytest.mark.parametrize(
    ("fields", "timeout", "disabled"),
    [
        ({}, 1800.0, True),
        ({"waitForPodsReady": {"enable": False}}, 1800.0, True),
        ({"waitForPodsReady": {"enable": True}}, 300.0, False),
        ({"waitForPodsReady": {"enable": True, "timeout": "1m"}}, 60.0, False),
    ],
)
def test_waiting_for_pods_was_off_by_default_in_the_older_version(
    fields: dict[str, Any], timeout: float, disabled: bool
) -> None:
    old = load(yaml.safe_dump({**OLD_HEAD, **fields}))
    assert old.wait_for_pods_ready.timeout == timeout
    assert old.feature_gates.get("DisableWaitForPodsReady", False) is disabled


@pytest.mark.parametrize(
    ("block", "want"),
    [
        ({"enable": False}, None),
        ({"enable": True}, ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]),
        (
            {"enable": True, "preemptionStrategies": ["LessThanInitialShare"]},
            ["LessThanInitialShare"],
        ),
        (
            {"enable": True, "preemptionStrategies": []},
            ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
        ),
        ({"enable": None}, None),
    ],
)
def test_fair_sharing_had_a_switch_in_the_older_version(
    block: dict[str, Any], want: list[str] | None
) -> None:
    old = load(yaml.safe_dump({**OLD_HEAD, "fairSharing": block}))
    assert (old.fair_sharing and old.fair_sharing.preemption_strategies) == want


def test_what_the_newer_version_dropped_is_accepted_in_the_older_one_and_means_nothing() -> None:
    dropped = {
        "queueVisibility": {"updateIntervalSeconds": 5},
        "integrations": {"frameworks": ["batch/job"], "podOptions": {"podSelector": {}}},
    }
    without = {"integrations": {"frameworks": ["batch/job"]}}
    assert load(yaml.safe_dump({**OLD_HEAD, **dropped})) == load(
        yaml.safe_dump({**OLD_HEAD, **without})
    )
    with pytest.raises(ConfigurationError, match="queueVisibility: Invalid value"):
        load(yaml.safe_dump({**HEAD, **dropped}))


def test_a_switch_that_is_no_truth_is_refused_in_the_older_version() -> None:
    with pytest.raises(ConfigurationError, match=r"fairSharing\.enable: Invalid value"):
        load(yaml.safe_dump({**OLD_HEAD, "fairSharing": {"enable": "perhaps"}}))


@pytest.mark.parametrize(
    ("text", "want"),
    [("0", 0), ("1h30m", 5400), ("1.5s", 1.5), ("500ms", 0.5), ("-2m", -120), ("3us", 3e-6)],
)
def test_durations_are_written_as_go_does(text: str, want: float) -> None:
    assert seconds_of(text) == pytest.approx(want)


@given(st.integers(-(10**7), 10**7))
@settings(derandomize=True, deadline=None)
def test_a_duration_survives_being_written(seconds: int) -> None:
    assert seconds_of(duration_text(seconds)) == seconds
