"""Pods of admitted Jobs whose devices come by resource claims: the names that say so.

A suspended Job can never be given `resourceClaims`, so its template only carries a label, the name
of the ResourceClaimTemplate and the resources that it stands for; each pod is rewritten when it is
created. The scheduling gate in the template is the safety: a pod that nobody rewrote never runs on
a device that was not accounted for.
"""

from typing import Final

from queueing.devices.wire import names

INJECT: Final = names.INJECT
RESOURCES: Final = names.INJECT_RESOURCE
TEMPLATE: Final = names.INJECT_TEMPLATE
CHANNEL: Final = names.CHANNEL
SHARED: Final = names.INJECT_CLAIM
GATE: Final = names.GATE
SLOTS: Final = names.INJECTED_MAX
INIT: Final = "initContainers"
CLAIM: Final = "kq-dra"
"""Name of the first claim within the pod; the next is `kq-dra-1`."""
CHANNEL_CLAIM: Final = "kq-channel"
"""Name of the claim by which a pod enters its ComputeDomain."""


def claim_name(number: int) -> str:
    """Return the name, within the pod, of the claim that stands for one of its resources."""
    return f"{CLAIM}-{number}" if number else CLAIM
