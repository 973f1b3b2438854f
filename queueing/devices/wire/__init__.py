"""Devices by Dynamic Resource Allocation (DRA, `resource.k8s.io/v1`): requests, offers and claims.

Pure. A *shape* is what a pod requests of devices; an *offer* is what a flavor's devices are to it,
and how much quota it is charged.

Reading order:

1. What there is: `objects` of the API, `slices` (ResourceSlices → devices) and `catalog`
   (DeviceFlavors, DeviceClasses and mappings → rules).
2. What pods request: `asks`; `claim_specs` (claims and templates → requests).
3. Offers: `offers`, by the rules for matching and packing, `charges` and `counting` (what is
   charged); `lacks` of the whole cluster.
4. Claims of an admission: `realisation`, with `terms`, `domains` and `swaps`; `names` of all that
   is created; `bound` and `own_claims` for claims that users wrote themselves.
5. After the allocation: `allocations` and `given` (what claims hold), `true_up` (what is charged
   then), `delays` (what users are told while pods wait), `claim_times` (for traces).
6. What is left on each node, for pods that a topology places: `node_devices`, by `node_terms`.
"""
