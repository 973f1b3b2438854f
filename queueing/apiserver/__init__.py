"""An embedded Kubernetes-style API server for the first five minutes and for fast tests.

One process, one event loop, memory (or one SQLite file) as its storage. It answers the parts of
the Kubernetes API that our controller, kubectl and our tests use, in the way of kube-apiserver:
where the conformance suite finds a difference, this package is wrong. Never meant for production:
everybody who reaches the port is an administrator.

Layers inside, each importing only those before it: `tree`, `failures`, `schema`, `resources`,
`change`, `rules`, `memory`, `admission`, `wire`, `server`; `simulation` stands beside `wire` and
plays Job controller, scheduler and kubelet directly on the memory.

Not evaluated here, though stored and served: CEL rules of definitions, admission policies, RBAC,
ResourceQuotas and LimitRanges. What must hold without them is tried on the real server.

Invariant: an object that was stored is never changed in place. Every write makes a new tree that
shares what did not change, so readers, watchers and history need no copies.
"""
