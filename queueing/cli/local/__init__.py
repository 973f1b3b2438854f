"""A cluster inside this process, for the first five minutes: `queueing demo` and `queueing dev`.

`cluster` is the embedded API server with simulated nodes and our controller, `webhooks` answer it,
and `owners` play the controllers of JobSets, RayClusters, Deployments and StatefulSets. `page`
serves what a browser shows. `demo` and `dev` are the commands; the demo shows by `board` what can
be seen from outside by `sightings`.
"""
