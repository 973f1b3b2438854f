"""What other people's API calls wait for: webhooks, conversion, visibility, metrics, probes.

It runs in a process of its own beside the controller, in every replica, so that a long cycle of
decisions never delays a `kubectl apply`. The controller pushes read models over a Unix socket
(`publisher` there, `read_models` here); nothing here decides. Invariant: an answer is made from
memory; only authentication and the certificate ask the API server.
"""
