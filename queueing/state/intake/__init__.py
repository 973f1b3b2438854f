"""Facts in: updates the memory with what was observed in the cluster.

`workloads` takes in a Workload, and charges it for the quota that it holds, or puts it in a queue
or, for a reason, in none (`joining`; `variants` says of which of them others outdo).
`marks` reads from statuses who preempted whom. `surroundings` takes in all other objects, such as
queues, flavors and checks. `outcomes` takes in how the write of a decision ended. `returning` says
who would be judged again at once if it were stopped.
"""
