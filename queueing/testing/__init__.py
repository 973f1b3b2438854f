"""Builders, fakes and virtual time for tests, ours and those of other projects.

Public: tests of a plugin may import it. The product does not.

Begin with `builders` (facts with defaults), `worlds` (lists of facts) and `arena` (one round of the
core without the engine). `obedient` is a cluster that does at once what the engine decides; it
drives the engine without an API server. `invariants` says what holds of an engine between two
calls, `trees` what holds of its quota tree. `hand_clock` is a clock that tests set, `virtual_time`
an event loop that does not wait, `ports` finds free ports.
"""
