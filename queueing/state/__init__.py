"""Memory between cycles: what the cluster said, what was decided, who waits for what.

`Engine` is the door: the shell, the simulator and `queueing plan` feed it facts and carry out its
decisions. Everything here is synchronous, asks no clock and does no I/O. Invariants (`Engine.check`
asserts them): usage is the sum over those that hold quota, by fact or by assumption; nobody is both
pending and charged; a queue that has a head to judge is known to have one; what is kept
incrementally equals what the facts alone would give.
"""
