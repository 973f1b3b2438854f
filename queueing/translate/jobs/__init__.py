"""Job kinds: what makes a Workload of a job, and what starts, stops and restores it.

Invariant: what `stop` restores is exactly what `start` found, byte for byte of the pod template.
"""
