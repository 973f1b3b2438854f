"""Validation that the API server does by itself: ValidatingAdmissionPolicies, rendered.

One table of demands per kind, each a CEL expression and the sentence that a refusal says. They say
what the rules of the custom resource definitions cannot: everything about Jobs, and about our own
kinds what is beyond the cost limit of a definition. Invariant: what a demand refuses, the pure
function of the same kind refuses too, in the same words; one table of cases runs against both.
`queueing manifests` prints them and the controller applies them.
"""
