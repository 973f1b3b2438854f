"""How each kind is served and printed: names, scope, columns, subresources."""

from dataclasses import dataclass
from typing import Final

CREATED: Final = ".metadata.creationTimestamp"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; priority 1 shows it with `-o wide` only.

    `older_path` is where v1beta1 has the value, if elsewhere.
    """

    name: str
    path: str
    description: str
    type: str = "string"
    priority: int = 0
    older_path: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the API server offers it."""

    kind: str
    plural: str
    short_names: tuple[str, ...]
    namespaced: bool = False
    has_status: bool = True
    columns: tuple[Column, ...] = ()
    selectable: tuple[str, ...] = ()

    @property
    def singular(self) -> str:
        """Return the name for one object, as `kubectl` takes it."""
        return self.kind.lower()


def _condition(name: str, condition: str, description: str) -> Column:
    return Column(name, f".status.conditions[?(@.type=='{condition}')].status", description)


_PENDING: Final = Column(
    "Pending Workloads", ".status.pendingWorkloads", "Workloads that wait for quota", "integer"
)
_ADMITTED: Final = "Workloads that are admitted and not finished"
_AGE: Final = Column("Age", CREATED, "Time since the object was created", "date")

RESOURCES: Final = (
    Resource("AdmissionCheck", "admissionchecks", ("ac",)),
    Resource(
        "ClusterQueue",
        "clusterqueues",
        ("cq",),
        columns=(
            Column(
                "Cohort",
                ".spec.cohortName",
                "Cohort that the ClusterQueue belongs to",
                older_path=".spec.cohort",
            ),
            Column(
                "Strategy", ".spec.queueingStrategy", "How workloads wait in the queue", priority=1
            ),
            _PENDING,
            Column(
                "Admitted Workloads", ".status.admittedWorkloads", _ADMITTED, "integer", priority=1
            ),
        ),
    ),
    Resource("Cohort", "cohorts", ("co",)),
    Resource(
        "LocalQueue",
        "localqueues",
        ("queue", "queues", "lq"),
        namespaced=True,
        columns=(
            Column("ClusterQueue", ".spec.clusterQueue", "ClusterQueue that the queue leads to"),
            _PENDING,
            Column("Admitted Workloads", ".status.admittedWorkloads", _ADMITTED, "integer"),
        ),
    ),
    Resource(
        "MultiKueueCluster",
        "multikueueclusters",
        ("mkc",),
        columns=(_condition("Connected", "Active", "Whether the worker is connected"), _AGE),
    ),
    Resource("MultiKueueConfig", "multikueueconfigs", ("mkconf",), has_status=False),
    Resource("ProvisioningRequestConfig", "provisioningrequestconfigs", ("prc",), has_status=False),
    Resource("ResourceFlavor", "resourceflavors", ("flavor", "flavors", "rf"), has_status=False),
    Resource("Topology", "topologies", ("topo",), has_status=False),
    Resource(
        "Workload",
        "workloads",
        ("kwl", "kueueworkload", "kueueworkloads"),
        namespaced=True,
        columns=(
            Column("Queue", ".spec.queueName", "LocalQueue that the workload waits in"),
            Column("Reserved in", ".status.admission.clusterQueue", "ClusterQueue that is charged"),
            _condition("Admitted", "Admitted", "Whether the workload is admitted"),
            _condition("Finished", "Finished", "Whether the workload is finished"),
            _AGE,
        ),
        selectable=(".status.admission.clusterQueue",),
    ),
    Resource(
        "WorkloadPriorityClass",
        "workloadpriorityclasses",
        ("wpc",),
        has_status=False,
        columns=(Column("Value", ".value", "Priority that the name stands for", "integer"),),
    ),
)

OWN_RESOURCES: Final = (
    Resource(
        "Checkpoint",
        "checkpoints",
        ("ckpt",),
        namespaced=True,
        columns=(
            Column("Workload", ".spec.workload.name", "Workload that is to be stopped"),
            Column("Reason", ".spec.reason", "Why it is to be stopped"),
            Column("Phase", ".status.phase", "Where the request stands"),
            Column("Outcome", ".status.outcome", "How the asking ended"),
            Column("Step", ".status.checkpoint.step", "How far the work was", "integer"),
            Column("Saved", ".status.checkpoint.at", "Time since the work was saved", "date"),
            Column("URI", ".status.checkpoint.uri", "Where the checkpoint is", priority=1),
            Column("Message", ".status.message", "Why it stands there", priority=1),
            _AGE,
        ),
    ),
    Resource(
        "CheckpointPolicy",
        "checkpointpolicies",
        ("ckptpolicy",),
        namespaced=True,
        columns=(
            Column("Driver", ".spec.driver", "How pods hear of the request"),
            Column("Save deadline", ".spec.saveDeadline", "Longest time that saving may take"),
            Column("On failure", ".spec.onFailure", "What happens when nothing was saved"),
            _condition("Active", "Active", "Whether the policy can be used"),
            _AGE,
        ),
    ),
    Resource(
        "CreditAccount",
        "creditaccounts",
        ("credits", "cacc"),
        columns=(
            Column("Policy", ".status.policy", "CreditPolicy that counts"),
            Column("Largest", ".status.largest", "The child with the largest balance"),
            Column("Smallest", ".status.smallest", "The child with the smallest balance"),
            Column("As of", ".status.asOf", "Time up to which everything is counted", "date"),
        ),
    ),
    Resource(
        "CreditBudget",
        "creditbudgets",
        ("cbud",),
        columns=(
            Column("Holder", ".spec.holder.name", "Whose workloads spend it"),
            Column("Period", ".spec.period", "How often it is granted anew"),
            Column("Spent", ".status.spent", "What was spent in this period"),
            Column("Held", ".status.held", "What those who run may still cost"),
            Column("Left", ".status.left", "What is neither spent nor held"),
            Column("Until", ".status.periodEnd", "When the period ends", "date"),
            Column("On exhausted", ".spec.onExhausted", "What happens beyond", priority=1),
            _condition("Effective", "Effective", "Whether it binds anybody"),
            _AGE,
        ),
    ),
    Resource(
        "CreditGrant",
        "creditgrants",
        ("cgrant",),
        columns=(
            Column("To", ".spec.receiver.name", "Whose balance is changed"),
            Column("Amount", ".spec.amount", "What is given, in units of 3600 credits"),
            Column("Author", ".spec.author", "Who gives it"),
            Column("Reason", ".spec.reason", "Why it is given"),
            _condition("Applied", "Applied", "Whether it stands in the account"),
            Column("Expires", ".spec.expiresAt", "When what is left is taken back", priority=1),
            _AGE,
        ),
    ),
    Resource(
        "CreditPolicy",
        "creditpolicies",
        ("cpol",),
        columns=(
            Column("Mode", ".spec.mode", "How far balances may bend weights"),
            Column("Half-life", ".spec.halfLife", "Time in which a balance halves"),
            Column("Horizon", ".spec.horizon", "Entitlement whose worth doubles the weight"),
            _condition("Effective", "Effective", "Whether the policy bends shares"),
            _AGE,
        ),
    ),
    Resource(
        "DeviceFlavor",
        "deviceflavors",
        ("dflavor", "dfl"),
        columns=(
            Column("Flavor", ".spec.resourceFlavor", "ResourceFlavor whose nodes have the devices"),
            Column("Resources", ".spec.resources[*].name", "Resources that are devices"),
            _condition("Active", "Active", "Whether the flavor can be used"),
            _AGE,
        ),
    ),
    Resource(
        "QueueableKind",
        "queueablekinds",
        ("qkind",),
        columns=(
            Column("Kind", ".spec.resource.kind", "Kind whose objects are queued"),
            Column("Group", ".spec.resource.group", "API group of the kind"),
            _condition("Active", "Active", "Whether objects of the kind are queued"),
            Column(
                "Reason",
                ".status.conditions[?(@.type=='Active')].reason",
                "Why they are, or are not",
            ),
            _AGE,
        ),
    ),
    Resource(
        "UsageRecord",
        "usagerecords",
        ("usage", "urec"),
        has_status=False,
        columns=(
            Column("Tree", ".spec.root.name", "Cohort or queue at the top of the tree"),
            Column("Resolution", ".spec.resolution", "Hour, Day or Month"),
            Column("Start", ".spec.start", "When the stretch of time begins", "date"),
            Column("As of", ".status.asOf", "Time up to which everything is counted", "date"),
        ),
    ),
)
"""Kinds of `queueing.dev`, served in one version."""
