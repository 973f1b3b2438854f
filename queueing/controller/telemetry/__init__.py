"""Metrics, traces, readiness, and what the serving process is told.

Invariant: nothing here changes a decision. Begin with `reporter`, which is called with everything
that happens in a term. It feeds `traces`, the counters and histograms of `queue_metrics`, and
`gauges` and `workload_gauges`, which are measured when somebody scrapes; `chosen_queues` says which
LocalQueues have metrics. `readiness` is what probes
return. `broadcast` sends readiness and metrics to the serving process and answers its questions for
`pending_lists`.
"""
