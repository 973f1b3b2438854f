"""Where the pods of a workload go: domains of a topology, such as racks and hosts.

The rules are those of Kueue's topology-aware scheduling. `core.placement` calls this package.

A `Forest` holds a `Tree` of domains per flavor: what is free in each leaf. Callers feed it nodes,
the pods of others, and what placed workloads use (`charge`). What was decided earlier in a cycle,
a promise, or a victim that would leave is a charge as well; inside `attempt` it is undone at the
end. `place` finds domains for the pod sets of a workload, `replace_node` for the pods of a failed
node, and `encode` gives an assignment the form in which it is stored.

The way of a search: `requests` says what is to be found. `counts` knows how much of it fits into
each domain, and counts again only what changed. `choosing` takes a level and domains there,
`descent` goes down to the leaves (`taking` is one step of it), `balanced` and `dealing` are other
ways to do both, and `refusals` tells why there is no place. Where a flavor has several topologies,
`nearness` says which are searched, and for what. `growing` lets the pods of an elastic job stay,
and finds places for those that it has more now. `offers` tells of flavors without a topology how
many pods their nodes could hold. `usage` joins what placed pods use of leaves to their quota.

Invariants: a search changes nothing; no assignment exceeds what is free in any leaf; the order in
which nodes and usage were told does not matter.
"""
