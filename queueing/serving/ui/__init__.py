"""The page: cohorts, queues, workloads, credits, usage and devices, to be looked at in a browser.

Read-only, and made when somebody looks: nothing is kept between two requests. `application` does
the HTTP, with `headers` that let a browser load nothing from elsewhere, and `entrance` finds out
who visits. `views` is the table of what can be looked at: a path, and the function that gathers
what is shown there, in `quota_views`, `workload_views`, `rack_views` and `account_views`. They ask
`sources`: the leader, by the answers of `queueing.explain`, and the API server; `prospects` has
estimates worked out beside pages. `bars`, `seats`, `timeline` and `columns` turn that into what
templates draw; they are pure, and so is `rendering`. `live` sends what has changed while a page is
open.
"""
