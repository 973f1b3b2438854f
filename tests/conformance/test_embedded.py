"""The suite on the embedded server; `e2e/test_conformance.py` runs it on kube-apiserver."""

# ruff: noqa: TID251 - the suite is shared with the end-to-end tests

from tests.conformance.gather import MODULES, gathered

globals().update(gathered(*MODULES))
