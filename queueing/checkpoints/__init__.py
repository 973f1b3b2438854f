"""Checkpoints before preemption: pods are asked to save their work before they are stopped.

`rules` decides: terms, phases with their deadlines, what the answers of pods mean. `wire`
translates Checkpoints, policies and pods to what `rules` knows, and back. `memory` is what was last
seen of them. `shell` carries it out in the controller: it watches, asks the pods, writes.

Invariant, by contract: each imports only those before it (and the layers that it stands beside),
only `shell` awaits, and `rules` knows no object of the API.
"""
