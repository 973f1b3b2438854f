"""Devices of admitted Workloads by Dynamic Resource Allocation (DRA): their claims, start to end.

Which device is charged as what, and which claims an admission becomes, is pure and in `rules` and
`wire`.

Invariants. A Job is unsuspended only when every ResourceClaimTemplate that its pods name exists.
Objects are named by a digest of their contents, so that each step can be repeated after a crash.
Quota of an evicted Workload is released only when none of its claims is allocated any more. What is
no longer needed is deleted, with its uid as precondition.

Reading order:

1. `starting` creates what the pods of a Job need, by `claims`; `jobs` and `gangs` call it.
2. `intake` stores DeviceFlavors, DeviceClasses, ResourceSlices, templates and claims;
   `flavor_conditions` writes whether a DeviceFlavor can be used.
3. `upkeep` deletes templates and claims that are not needed any more and recreates those that
   running pods need; `template_cleanup` deletes those of many finished Workloads in one request.
4. `delays` tells users why pods do not get their devices; `pod_replacement` deletes pods that were
   created without their claims, so that their Job creates others; `evictions` evicts Workloads
   whose devices exceed, or no longer match, what was admitted.
5. `composition` puts this together for a term. Without DeviceFlavors and `deviceClassMappings`
   nothing more is watched, unless objects are left from a time when there were some.
"""
