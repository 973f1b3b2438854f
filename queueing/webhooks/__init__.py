"""Defaulting and validation of what users send, as pure functions.

Each rule takes wire objects (dicts as the API server sends them) and returns findings, all at once,
so that a user mends a manifest in one go. `queueing.serving` calls them for a live API server;
`plan` calls them to warn. Invariant: nothing here raises on a malformed object; what the schema
already refuses is simply not judged here.
"""
