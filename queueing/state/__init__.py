"""Memory between cycles: what was observed, what was decided, and what each workload waits for.

`engine.Engine` is the only entry. The controller, the simulator and `queueing plan` give it facts
(`observe`), ask it for decisions (`cycle`), and report how each write ended (`settle`). Nothing
here awaits, reads a clock or does I/O. How the modules work together, by an example:
docs/concepts/waiting.md. The terms used: docs/concepts/words.md.

`memory` is the data that the others work on, made of charged quota (`usage`), pending workloads
(`queues`) and credit balances (`credits`). `intake` takes in facts, `scheduler` decides in rounds,
and `answers` reads. The docstring of each package names its modules.

Invariants, which tests assert (`queueing.testing.invariants`): usage is the sum over the workloads
that hold quota, by a fact or by assumption; no workload is both pending and charged; every queue
with a head to judge is in `Memory.ready`; what is kept incrementally equals what the facts alone
would give.
"""
