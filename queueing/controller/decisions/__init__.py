"""Runs the engine, writes its decisions into Workloads' status, and reports the outcomes to it.

Invariant: every write ends as done, refused or unknown (`kube.outcome`), and the engine takes only
a refused decision back. Reading order: `cycles` is the loop that runs the engine when something
changed; `effects` carries out what it decided, `late_evictions` holds some of it back.
"""
