"""Wire objects → facts: one pure function per kind.

Invariant: a fact is made of every object that the API server let in; what cannot be used says why
in `misconfigured` and never reaches a decision. Called by the controller's event pump and by
`plan`, with the same functions.
"""
