"""Devices of admitted work: what flavors can serve, the claims of a start, and their end.

Invariants. A Job is unsuspended only when every template that its pods name exists. Names are made
from contents, so each step can be repeated after a crash. Quota of an evicted Workload is given
back only when none of its claims is allocated any more. What nobody needs is deleted, with the uid
as precondition. Without a DeviceFlavor and without `deviceClassMappings` nothing is watched, unless
there are templates or claims of a time when there were some (`leftovers`).

`composition` puts it together for a term, `intake` takes in what happens to devices, and
`flavor_conditions` says of each DeviceFlavor whether it can be used. A life: `starting` (what the
start of a Job needs) by `claims` (templates, claims and domains); `delays` tells why pods do not
get theirs, `pod_replacement` has those made anew that came without; `evictions` ends work whose
devices are not those any more that its quota was given for; `upkeep` deletes what nobody needs any
more and keeps what running work needs, with `template_cleanup` for whole namespaces.
"""
