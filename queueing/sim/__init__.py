"""The engine on manifests and in virtual time: plans, scenarios, and what-ifs.

The same engine as in production runs here on facts made from files, with a clock that is a number.
Invariants: no clock is read, no cluster is spoken to, and the same input gives the same output,
byte for byte. `cli` calls it for `queueing plan`; tests and the benchmark call it directly.
"""
