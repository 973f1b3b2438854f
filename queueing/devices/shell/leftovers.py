"""Looks for templates and claims that were made by rules which are deleted by now.

The last DeviceFlavor may be deleted while Workloads with its claims run. A new leader must then
watch claims nevertheless: quota is released only when none of a Workload's is allocated any more.
"""

import msgspec

from queueing.devices.wire.names import WORKLOAD_UID
from queueing.kube.client import Client, ListQuery
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError
from queueing.kube.listing import decode_page
from queueing.kube.resources import RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS, Resource

_ONE = ListQuery(label_selector=WORKLOAD_UID, limit=1)


async def leftovers(client: Client) -> bool:
    """Say whether there may be a template or claim that was made for a Workload.

    True when that cannot be found out, since a needless watch costs little.
    """
    for resource in (RESOURCE_CLAIMS, RESOURCE_CLAIM_TEMPLATES):
        if await _has_any(client, resource):
            return True
    return False


async def _has_any(client: Client, resource: Resource) -> bool:
    try:
        page = decode_page(await client.list_page(resource.within(), _ONE))
    except (NotFoundError, ForbiddenError):
        return False  # no such kind, or none that we could watch
    except (KubeError, msgspec.DecodeError):
        return True
    return bool(page.items or page.metadata.continue_token)
