"""Why a workload waits and what would help it, and what is going on in a queue.

Asked on request only, of the engine's memory between two of its rounds, and it leaves that memory
as it was. `answers` is what others call. `model` holds the answers: frozen values, whose JSON is a
stable contract (docs/reference/explanations.md). `text` writes them for people, and `redaction`
leaves out names that the asker may not read.

`workloads` and `queues` put an answer together. `probe` lets the engine judge one workload as if
it went first, on the quota as it is. `blockers` says what blocks a workload, `holders` who holds
that, `scattered` how room on nodes is spread, `place` who comes before it, `wakes` what will have
it judged again, `running` what holds for one that runs; `spelling` is how times and lists are
told. `trees` tells of cohorts with all below them, `quotas` the rows of quota of a node (`lending`
who lends what is used of it), and `lines` who waits in a queue or holds its quota. `proposals` are
changes of the workload that may help, `quota_proposals` those of queues. `remedies` keeps those
after which the engine admits the workload: by `probe` if they concern it alone, else by a `trial`,
a small engine of the same tree of cohorts.

`layout` tells of a topology what fits into each domain and who sits there, `openings` whom it would
cost to make room in one. `racks` tells the same of the domains below one, a part at a time; its
answer is in `domain_model`. `part` is what parts of all answers have in common.
"""
