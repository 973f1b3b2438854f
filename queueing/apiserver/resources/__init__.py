"""Which kinds the server knows: the built-in table, and those that CustomResourceDefinitions add.

Invariant: a `Resource` is a frozen description; what changes when a CRD is applied is the
`ServedKinds`. Called by `rules`, `memory` and `wire`.
"""
