"""The usage of quota, kept incrementally. Knows nothing of pending workloads.

Invariant: usage at each node of the quota tree is the sum over the workloads that hold quota, by a
fact or by assumption. `ledger` keeps the charge of each workload (`charges`) and mirrors them in
the tree; `sharing` divides the charge for ResourceClaims among the workloads that use them. `turns`
keeps the usage histories of LocalQueues (admission fair sharing).
"""
