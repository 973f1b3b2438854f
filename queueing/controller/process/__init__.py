"""Health of the controller's process; `app` starts all of it, whether the process leads or not.

`garbage_collection` avoids long pauses by the collector, `loop_lag` measures how late the event
loop wakes up, `connection` logs when the API server is unreachable and when it is back, `probes`
serves `/healthz`, `/livez`, `/readyz` and `/metrics` where there is no serving process.
`recording_file` is where a recording is written, when one was asked for.
"""
