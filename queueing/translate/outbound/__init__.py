"""Decisions and lifecycle steps → bytes to write: merge patches with a resourceVersion.

Invariant: a patch says everything of its change at once (one write per step), and none of it can
be applied to an object other than the one it was made from. The exact words of conditions are
Kueue's, because people and tools wait for them.
"""
