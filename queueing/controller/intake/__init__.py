"""Turns watch events into stored objects, facts for the engine, and keys for the reconcilers.

Invariant: nothing here awaits, so that after each event stores, engine and work queues agree.

Reading order: `watches` lists the kinds that a term watches, each with the method that takes its
events. `pump` handles Workloads and Jobs, with `requests` for what Workloads request.
`admin_objects` handles what admins write. `kinds` follows the kinds of jobs that are on and served,
with `related_objects` for what some of them cannot be read without. Kinds that only one feature
needs are handled by the `intake` of `devices.shell`, `checkpoints.shell` or `credits`.
"""
