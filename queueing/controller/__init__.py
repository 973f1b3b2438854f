"""The asyncio shell around the engine: it watches, decides, writes, and nothing else.

Invariants: only the holder of the Lease writes; every write that a decision rests on carries a
resourceVersion and is fenced; what was decided is in a Workload's status or did not happen, and
every later step is found again from there. Called by `cli` (`queueing run`, `queueing dev`).
"""
