"""Asks workloads to save their work before they are stopped, and keeps what they saved.

Invariants. The Checkpoint exists before any pod is asked, and tells any replica how to go on; a
step is stored before what follows from it is done, and both can be done again. While a request
holds the stop (`Barrier`), no Job of its Workload is suspended; quota stays charged to it until its
pods are gone, as for any eviction. Called by the session's workers, a Workload's key at a time.
"""
