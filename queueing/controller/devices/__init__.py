"""Devices of admitted work: what flavors can serve, the claims of a start, and their end.

Invariants. A Job is unsuspended only when every template that its pods name exists. Names are made
from contents, so each step can be repeated after a crash. Quota of an evicted Workload is given
back only when none of its claims is allocated any more. What nobody needs is deleted, with the uid
as precondition. Without a DeviceFlavor and without `deviceClassMappings` nothing is watched, unless
there are templates or claims of a time when there were some.
"""
