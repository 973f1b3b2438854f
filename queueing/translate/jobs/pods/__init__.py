"""Pods that are queued by themselves, and in groups.

Invariant: a pod that runs can only be deleted; so nothing that a start adds is ever taken back.

`view` is a pod as the controller sees it, `roles` the digest of what its quota depends on. `groups`
tells which group a pod is of and whether its members agree; `matching` holds the members of a group
against its Workload, and `workload` makes that.
"""
