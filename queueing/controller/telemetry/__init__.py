"""What the process tells of itself. Invariant: nothing here reaches a decision.

`reporter` hears of whatever happens in a term. What it heard becomes traces (`traces`), counters
and histograms (`queue_metrics`), gauges that are measured at scrapes (`gauges`, and of Workloads
`workload_gauges`), what probes ask for (`readiness`), and what the serving process is told
(`broadcast`) and may ask for (`pending_lists`).
"""
