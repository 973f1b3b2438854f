"""What operators see: logs, metrics and traces.

Invariants. Nothing here decides anything or speaks to the cluster. Names and labels of `kueue_*`
metrics are Kueue's, so that its dashboards work. A trace belongs to a workload, and its id follows
from the workload's UID alone. What is not configured costs nothing.

`monitoring` has alerts and dashboards as data, of which files are made that operators install.
`waterfall` tells where the time of a workload went from objects alone, without any of the others.

Called by `controller`, `serving`, `cli` and `testing`.
"""
