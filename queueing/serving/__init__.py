"""What other people's API calls wait for: webhooks, conversion, visibility, metrics, probes.

It runs in a process of its own beside the controller, in every replica, so that a long cycle of
decisions never delays a `kubectl apply`. The controller pushes read models over a Unix socket
(`publisher` there, `read_models` here, `frames` between them); nothing here decides. Invariant: an
answer is made from memory; only authentication and the certificate ask the API server.

`process` composes it. `routes` are the HTTP of its ports, `exposition` the format of metrics,
`surroundings` what defaulting must know. Who asks, and may they: `authorization`, by `rights` and
with `aggregator`. `visibility` answers who waits where, `explanation_routes` why, `estimates` until
when (documents of discovery: `explanations`), or they have the leader's replica answer
(`answering`, `forward`). `snapshots` is all that the leader's engine sees. TLS: `certificates` are
made here, kept in a Secret by `certificate_secret`, served as the `identity` to clients that
`tls_settings` accept. When the definition of Workloads is about to be deleted, `uninstallation`
silences the leader, and `finalizer_release` lets go of everything. `ui` is the page for browsers:
it alone also reads objects of the API server, when somebody looks.
"""
