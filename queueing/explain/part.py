"""What all parts of answers have in common."""

import msgspec

API_VERSION = "visibility.queueing.dev/v1alpha1"


class AnswerPart(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The base of all parts of an answer."""
