"""Facts in: what the cluster said becomes memory.

`workloads` takes a Workload: with quota (`holding`, where `marks` restores who waits for it from
what statuses say), in a queue (`joining`), or in none (`hindrances`). `surroundings` says what a
change of a queue, flavor or check means to workloads, `local_queues` what one of a LocalQueue does
to turns. `outcomes` confirms or takes back what was assumed.
"""
