"""AdmissionCheck: something outside the quota that must agree before a workload is admitted."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.meta.v1 import Conditions, KubeObject
from queueing_api.wire import Wire


class AdmissionCheckParametersReference(Wire):
    """The object that configures a check."""

    api_group: Annotated[
        str,
        Field(
            min_length=1,
            max_length=253,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        ),
    ]
    """API group of the object."""
    kind: Annotated[
        str, Field(min_length=1, max_length=63, pattern=r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$")
    ]
    """Kind of the object."""
    name: Annotated[
        str, Field(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    ]
    """Name of the object."""


class AdmissionCheckSpec(Wire):
    """Who decides a check."""

    controller_name: Annotated[str, Field(min_length=1, max_length=253)]
    """Controller that decides the check, for example kueue.x-k8s.io/provisioning-request.
    Immutable."""
    parameters: AdmissionCheckParametersReference | None = None
    """Object that configures the check for its controller."""


class AdmissionCheckStatus(Wire):
    """Whether a check works."""

    conditions: Conditions = Field(default_factory=list)
    """Observations: Active says whether its controller is ready to decide."""


class AdmissionCheck(KubeObject):
    """Something outside the quota that must agree before a workload is admitted."""

    api_version: Literal["kueue.x-k8s.io/v1beta2"] = "kueue.x-k8s.io/v1beta2"
    kind: Literal["AdmissionCheck"] = "AdmissionCheck"
    spec: AdmissionCheckSpec
    """Who decides the check."""
    status: AdmissionCheckStatus = Field(default_factory=AdmissionCheckStatus)
    """Whether the check works."""
