"""Answers out: what the engine says to whoever asks, without changing anything.

`waits` (why does it wait), `reports` (status of queues, and metrics), `excess` (may a workload keep
what it holds).
"""
