"""`queueing topology`: the racks and nodes of flavors, what fits where, and who sits there."""
