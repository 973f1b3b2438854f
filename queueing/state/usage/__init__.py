"""What is charged where, kept incrementally. Knows nothing of who waits.

Invariant: usage at each node of the tree is the sum over those that hold quota, by fact or by
assumption. `ledger` charges, and keeps the `charges` of each workload; `rolls` lists them by queue;
`sharing` prices claims of devices that several use. `turns` is the usage of LocalQueues over time,
`ranks` their order. `changes` collects what changed since waiting workloads were last looked at.
"""
