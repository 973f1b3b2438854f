"""Answers out: read-only questions to the memory.

`waits`: why does a workload wait? `reports`: counts and usage of queues, for status and metrics.
`excess`: does a workload hold more than it would be granted now?
"""
