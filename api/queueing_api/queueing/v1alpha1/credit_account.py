"""CreditAccount: the ledger of one cohort or ClusterQueue, all its children in one object."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import ATOMIC, list_map
from queueing_api.meta.v1 import KubeObject
from queueing_api.wire import DnsSubdomain, Int64, Time, Wire

Part = Annotated[int, Field(ge=0, le=2**32 - 1)]


class CreditPartner(Wire):
    """How much was lent to, or borrowed from, one sibling."""

    name: str
    """The sibling, as its kind and name; $pool is the cohort's own quota, $import what the cohort
    itself borrows."""
    amount: str
    """How much, for people."""
    micro_credits: Int64
    """How much, in millionths of a credit."""


class CreditChild(Wire):
    """The balance of one queue, cohort or namespace among its siblings."""

    kind: Literal["ClusterQueue", "Cohort", "Namespace"]
    """Kind of the child."""
    name: DnsSubdomain
    """Name of the child."""
    balance: str
    """Balance for people; negative is debt."""
    weight_factor: str
    """What the weight in fair sharing, or among LocalQueues, is multiplied by now."""
    micro_credits: Int64
    """Balance in millionths of a credit, rounded down."""
    remainder: Part = 0
    """What was rounded off, in parts of 2^32 of a millionth."""
    earned: Int64 = 0
    """All that was ever earned, in millionths of a credit."""
    spent: Int64 = 0
    """All that was ever paid, in millionths of a credit."""
    wasted: Int64 = 0
    """What was ever used for work that evictions lost: since it was last saved, or since it began;
    in millionths of a credit."""
    lent_to: Annotated[list[CreditPartner], Field(max_length=64), list_map("name")] = Field(
        default_factory=list
    )
    """To whom quota was lent, the most first."""
    borrowed_from: Annotated[list[CreditPartner], Field(max_length=64), list_map("name")] = Field(
        default_factory=list
    )
    """From whom quota was borrowed, the most first."""
    entitlement: Int64 = 0
    """What it may use for nothing, in millionths of a credit per second."""
    held: Int64 = 0
    """What it is about to pay for work that began lately, in millionths of a credit; its weight is
    bent as if that were paid. Only with an admissionHold in the CreditPolicy."""
    departed_at: Time | None = None
    """Since when it is no longer a child; the balance waits for it for three half-lives."""


class CreditSink(Wire):
    """Where credits went that no child has, or came from; with the balances they sum to zero."""

    name: Literal[
        "Imported", "Classes", "Rounding", "Decayed", "Forgiven", "Granted", "Adjusted", "Refunded"
    ]
    """Imported: paid for what the cohort itself borrows. Classes: more, or less, than the plain
    price. Rounding: what cannot be divided. Decayed: lost with time. Forgiven: debt beyond the
    limit. Granted: by CreditGrants. Adjusted: balances of newcomers, and of those whose
    entitlement was cut or who moved. Refunded: what was paid for work that an eviction lost after
    a checkpoint."""
    micro_credits: Int64
    """What it has received, in millionths of a credit, rounded down; negative when it gave."""
    remainder: Part = 0
    """What was rounded off, in parts of 2^32 of a millionth."""


class CreditUsage(Wire):
    """How much of one resource in one flavor a workload holds."""

    flavor: DnsSubdomain
    """Flavor of the resource."""
    resource: str
    """Name of the resource."""
    amount: Int64
    """Amount in the units of decisions: millicores of cpu, whole units of everything else."""


class CreditLeaver(Wire):
    """A workload that was evicted: what it holds, or held, before it is forgotten."""

    uid: str
    """Life of the workload."""
    cluster_queue: DnsSubdomain
    """Queue whose quota it holds."""
    priority: Int64 = 0
    """Its priority."""
    since: Time
    """Since when it holds it."""
    until: Time | None = None
    """When it gave it back. Unset while it holds it."""
    usage: Annotated[list[CreditUsage], Field(max_length=256), ATOMIC] = Field(default_factory=list)
    """What it holds."""
    local_queue: str = ""
    """Namespace and name of its LocalQueue."""
    user: str = ""
    """Value of its label queueing.dev/user."""
    runs_since: Time | None = None
    """Since when all its pods ran. Unset when they never did."""


class CreditGrantEntry(Wire):
    """A grant that was booked."""

    uid: str
    """Life of the CreditGrant."""
    name: str
    """Name of the CreditGrant."""
    expired: bool = False
    """Whether it was taken back."""


class CreditAccountSpec(Wire):
    """Whose account it is."""

    cohort_name: DnsSubdomain | None = None
    """Cohort whose children the account is about."""
    cluster_queue_name: DnsSubdomain | None = None
    """ClusterQueue whose namespaces the account is about. Either this or cohortName is set."""


class CreditAccountStatus(Wire):
    """The ledger as of one moment."""

    as_of: Time | None = None
    """Up to when everything is counted."""
    policy: str = ""
    """CreditPolicy that the cohort or ClusterQueue goes by."""
    unit: str = ""
    """Name of 3600 credits."""
    largest: str = ""
    """The child with the largest balance, for people."""
    smallest: str = ""
    """The child with the smallest balance, for people."""
    children: Annotated[list[CreditChild], Field(max_length=4096), ATOMIC] = Field(
        default_factory=list
    )
    """The balances, sorted by kind and name."""
    sinks: Annotated[list[CreditSink], Field(max_length=16), list_map("name")] = Field(
        default_factory=list
    )
    """Where credits went that no child has."""
    leavers: Annotated[list[CreditLeaver], Field(max_length=4096), ATOMIC] = Field(
        default_factory=list
    )
    """Evicted workloads: those that still hold quota, and those that gave it back after asOf."""
    grants: Annotated[list[CreditGrantEntry], Field(max_length=4096), ATOMIC] = Field(
        default_factory=list
    )
    """Grants that were booked."""


class CreditAccount(KubeObject):
    """The ledger of one cohort or queue: who lent, who borrowed, and where each child stands.

    Written by the controller; one object for all children, so that it is always consistent.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["CreditAccount"] = "CreditAccount"
    spec: CreditAccountSpec
    """Whose account it is."""
    status: CreditAccountStatus = Field(default_factory=CreditAccountStatus)
    """The ledger as of one moment."""
