"""Validation that the API server does by itself: ValidatingAdmissionPolicies, rendered.

One table of demands per kind, each a CEL expression and the sentence that a refusal says. They say
what the rules of the custom resource definitions cannot: everything about Jobs, and about our own
kinds what is beyond the cost limit of a definition. `queueing manifests` prints the policies, the
controller applies them, and webhooks evaluate the same table where there are none.
"""
