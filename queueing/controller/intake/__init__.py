"""Watch events → stores, facts for the engine, and the keys that reconcilers must look at again.

Invariant: synchronous throughout, so that between two awaits everybody sees the same world.
`watches` names what a term follows. `pump` takes in Workloads and Jobs (`requests`: what they ask
for), `admin_objects` what admins write (`queue_changes`: whom a change of a queue concerns). What
features watch besides comes in by their own `intake`.
"""
