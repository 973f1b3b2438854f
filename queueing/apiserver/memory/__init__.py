"""The pure memory: objects by kind, one version counter, a log of changes, and who listens.

Invariants: versions only grow, and every write takes exactly one; a listener is told of each
change once, in order, after it happened; nothing here awaits or reads a clock.
Called by `wire` (requests), `simulation` (in process) and `server`.
"""
