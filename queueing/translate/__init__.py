"""The wire and the engine's own words, in both directions.

Invariant: pure. No I/O, no clock; the same object gives the same fact, and the same decision the
same bytes. `wire` spells objects, `inbound` makes facts of them, `outbound` makes patches of
decisions, `jobs` knows the job kinds. Called by the controller, by `plan` and by the simulator.
"""
