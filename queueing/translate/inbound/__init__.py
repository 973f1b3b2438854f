"""Wire objects → facts of the engine: one pure function per kind.

Invariant: every object that the API server accepted becomes a fact. A part that cannot be used is
explained in the fact's `misconfigured` and does not take part in decisions. The controller's
`intake` and `queueing plan` (`sim.intake`) call the same functions.

`workloads`, `queues` (with `quotas`) and `surroundings` (flavors, checks, topologies, namespaces)
are the kinds; `placement` and `given_hosts` read what topologies are about; `manifests` decodes
documents that were not read from an API server.
"""
