"""Answers out: read-only questions to the memory.

`waits`: why does a workload wait? `changes`: what of queues may be shown differently now?
`excess`: does a workload hold more than it would be granted now?
"""
