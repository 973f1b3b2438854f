"""CreditGrant: credits that an admin gives or takes, with a name and a reason."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import list_map
from queueing_api.meta.v1 import Condition, KubeObject
from queueing_api.wire import DnsSubdomain, Quantity, Time, Wire


class CreditReceiver(Wire):
    """Whose balance is changed."""

    kind: Literal["ClusterQueue", "Cohort"]
    """Kind of the receiver."""
    name: DnsSubdomain
    """Name of the receiver."""


class CreditGrantSpec(Wire):
    """What is given to whom, by whom, and why."""

    receiver: CreditReceiver
    """Whose balance is changed, once, at the time at which the grant was created."""
    amount: Quantity
    """What is given, in units of 3600 credits; negative to take."""
    author: Annotated[str, Field(min_length=1, max_length=256)]
    """Who gives it."""
    reason: Annotated[str, Field(min_length=1, max_length=1024)]
    """Why it is given."""
    expires_at: Time | None = None
    """When what is left of it by decay is taken back, as far as the balance is positive. Unset:
    never."""


class CreditGrantStatus(Wire):
    """Whether the grant was booked."""

    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Applied is True once the amount stands in the receiver's account."""


class CreditGrant(KubeObject):
    """Credits that an admin gives to a queue or cohort, or takes from it."""

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["CreditGrant"] = "CreditGrant"
    spec: CreditGrantSpec
    """What is given to whom, by whom, and why."""
    status: CreditGrantStatus = Field(default_factory=CreditGrantStatus)
    """Whether the grant was booked."""
