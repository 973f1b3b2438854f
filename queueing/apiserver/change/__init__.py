"""The patch types and who owns which field: pure functions from trees to trees.

Invariant: no input is changed; unchanged parts of the result are shared with the input.
Called by `wire.patching` and `wire.writing`.
"""
