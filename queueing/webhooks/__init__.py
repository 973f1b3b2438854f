"""Defaulting and validation of what users send, as pure functions.

Each takes wire objects (dicts as the API server sends them). What is wrong with an object is told
by `rules`, which evaluates the tables that definitions and policies are rendered from, all at once,
so that a user mends a manifest in one go. `queueing.serving` asks for a live API server; `plan`
asks to warn. Invariant: validation never raises; an object that a rule has no answer for is refused
with the reason.
"""
