"""Kubernetes objects as msgspec structs, with only the fields that we read.

Invariant: every struct decodes from JSON bytes (`msgspec.json`) and from a mapping
(`msgspec.convert`), has the CRD's defaults, and skips fields that it does not name. Used by
`translate` itself, by the controller's reflectors and by `sim`.
"""
