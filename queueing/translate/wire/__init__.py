"""Wire objects as the API server spells them, with just the fields that we read.

Invariant: every struct here decodes from bytes (`msgspec.json`) and from a mapping
(`msgspec.convert`), knows the defaults of the CRD, and skips what it does not name. Read by
`translate` itself, by the controller's reflectors and by `plan`.
"""
