"""Translates Kubernetes objects into the engine's facts, and decisions into patches.

Invariant: pure. No I/O and no clock; the same object gives the same fact, and the same decision the
same bytes. Called by `controller`, `webhooks`, `observe` and `sim`.

Reading order: `wire` has the objects, with the fields that we read. `inbound` makes facts of them,
by `requests` (what a pod requests, within LimitRanges) and `transformations` (of the
Configuration). `outbound` makes patches of decisions. `jobs` knows how a Job becomes a Workload and
how its pod template is changed at a start and restored. `configuration` and `gates` read Kueue's
Configuration. `credits`, `budgets` and `usage_records` are features; `queueing.checkpoints` and
`queueing.devices` have a `wire` of their own.
"""
