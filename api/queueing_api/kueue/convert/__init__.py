"""Between `v1beta1` and `v1beta2`, plain data to plain data; pure, and without loss.

The API server calls this for every read and write of v1beta1. Invariants: what one version cannot
say travels in an annotation, so that there and back gives the same object; a value edited in the
meantime wins over what was kept; fields that no version knows stay where they are; nothing of the
metadata but that annotation changes; the argument is never changed.
"""

from queueing_api.kueue.convert.review import convert_review
from queueing_api.kueue.convert.versions import ConversionError, convert

__all__ = ["ConversionError", "convert", "convert_review"]
