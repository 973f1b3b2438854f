"""Answers out: read-only questions to the memory.

`waits`: why does a workload wait? `excess`: does a workload hold more than it would be granted now?
"""
