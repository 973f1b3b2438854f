"""The suite on the embedded server; `e2e/test_conformance.py` runs it on kube-apiserver."""

from tests.conformance.gather import MODULES, gathered

globals().update(gathered(*MODULES))
