"""The life of a Workload besides its quota and its Jobs, and what its status says of it.

`reconciler` does the step that the lifecycle says is due; `reservation_problems` finds what is
wrong with a reservation as it stands; `late_reservations` are those that an earlier leader wrote
too late for the tree to bear them; `waiting_reasons` writes why a Workload waits, late, seldom
and never in the way; `departing_pods` says whether a Job that was deleted still has pods.
"""
