"""Memory between cycles: what the cluster said, what was decided, which workload waits for what.

`engine.Engine` is the only entry. The controller, the simulator and `queueing plan` give it facts
(`observe`), ask it for decisions (`cycle`) and tell it what became of each write (`settle`).
Nothing here awaits, asks a clock or does I/O. How the modules work together, by an example:
docs/concepts/waiting.md; coined words: docs/concepts/words.md.

`memory` is the data that the others work on, made of what is charged (`usage`), who waits where
(`queues`) and balances (`credits`). `intake` takes facts in, `cycle` decides by rounds, `answers`
reads. Each names its modules.

`invariants`, asserted by `Engine.check`: usage is the sum over those that hold quota, by fact or by
assumption; nobody is both pending and charged; a queue that has a head to judge is known to have
one; what is kept incrementally equals what the facts alone would give.
"""
