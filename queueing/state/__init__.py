"""Memory between cycles: what the cluster said, what was decided, which workload waits for what.

`engine.Engine` is the only entry. The controller, the simulator and `queueing plan` give it facts
(`observe`), ask it for decisions (`cycle`) and tell it what became of each write (`settle`).
Nothing here awaits, asks a clock or does I/O. How the modules work together, by an example:
docs/concepts/waiting.md; coined words: docs/concepts/words.md.

Facts in. `memory` is the data that the other modules work on. `objects` keeps queues, cohorts,
flavors and checks, `surroundings` says what a change of one means to workloads. `intake` takes
workloads: with quota (`holding`, charged in `ledger` as `charges`, by queue in `rolls`), in a queue
(`joining`), or in none (`hindrances`). `outcomes` confirms or takes back what was assumed.

A queue. `pending` is one ClusterQueue's: groups of equal workloads (`peers`), those that compete
for its turn (`lanes`), those that wait for an amount of quota (`shelf`), each with a state
(`stands`). `openness` and `lines` remember what holds of a queue until objects change.

A cycle. `driver` runs rounds: `selection` takes the heads, `succession` replaces those that nothing
can help, `queueing.core.rounds` decides, `settlement` takes the decisions in, and `parking` notes
what would help who was not admitted, and who keeps its turn. `tidings` collects what changed,
`wakes` makes those ready again whom it may help. Without a judgement, by numbers known beforehand:
`hopeless` (cannot be helped), `prospects`, `footing` and, without a look at every head, `contest`
(will be admitted), `supply` (the most that could be had).

Preemption between rounds. `claims` holds who waits for whose quota, `marks` restores that from
statuses, `standing` keeps others off it, `feuds` ends preemption to and fro. Fairness between
LocalQueues: `turns`, `ranks`, `local_queues`; `sharing` prices claims used by several; `credits`.

Answers out. `waits` and `story` (why does it wait), `reports` and `views` (status and metrics),
`excess` (may it keep what it holds). `invariants`, asserted by `Engine.check`: usage is the sum
over those that hold quota, by fact or by assumption; nobody is both pending and charged; a queue
that has a head to judge is known to have one; what is kept incrementally equals what the facts
alone would give.
"""
