"""Topology in the rules of a round: what the search of places in `topology` is asked, and when.

`placing` ends flavor assignment: places for pods whose flavors were chosen, now or once victims are
gone. `pods` says what pods of a workload that holds quota ask for and use at a place. `moving`
finds whom to move so that a gang gets a domain. `room` says whether places are free still when an
entry is decided. `doubts` tells of pods that no nodes could hold. `nodes`
tells the forest which flavors, topologies and nodes there are.

What placed pods are charged is usage like any other (`core.topology.usage`), so quota, preemption
and fair sharing do not know of places. `core.second_pass` is the other caller of `topology`.
"""
