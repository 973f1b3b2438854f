"""`queueing trace`: reads what is known of a workload, and draws where its time went."""
