"""The order in which the resources of a request are looked at: that of Kueue.

It decides which resource group is searched first, so which one a refusal names: the search ends at
the first that has no flavor. Kueue looks at resources by the FNV-1a hash of their names.
"""

from functools import lru_cache

from queueing.core.names import ResourceName

_OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_UINT64_MAX = 2**64 - 1


@lru_cache(maxsize=4096)
def search_place(resource: ResourceName) -> int:
    """Return the place of a resource: the unsigned 64-bit FNV-1a hash of its name."""
    place = _OFFSET_BASIS
    for byte in resource.encode():
        place = (place ^ byte) * _PRIME & _UINT64_MAX
    return place
