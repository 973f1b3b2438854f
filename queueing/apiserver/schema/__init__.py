"""Structural OpenAPI schemas: validation, defaults, pruning, and the shapes of built-in kinds.

Pure functions over plain dict schemas, as a CustomResourceDefinition carries them. Messages name
the field in the words of kube-apiserver, so that people and tests meet the same sentences on both
servers. Called by `rules` and `change`.
"""
