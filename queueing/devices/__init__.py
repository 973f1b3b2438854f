"""Devices by Dynamic Resource Allocation (DRA): from what pods request to claims and their charge.

`rules` decides what can be decided without objects of the API. `wire` translates slices, classes,
DeviceFlavors and pod templates, and makes claims of admissions. `memory` is what was last seen of
all that. `shell` carries it out in the controller: it watches, creates and deletes claims, evicts.

Invariant, by contract: each imports only those before it (and the layers that it stands beside),
only `shell` awaits, and `rules` knows no object of the API.
"""
