"""What keeps the controller's process well, and what others see of how it is.

`garbage_collection` keeps the collector from stopping everything, `loop_lag` measures how late the
loop wakes up, `connection` says that the API server is away, `probes` answers `/healthz`, `/readyz`
and `/metrics` where no serving process does.
"""
