"""JSON trees: copying, digging and replacing without changing what is shared."""

from collections.abc import Iterator
from typing import Any

type Object = dict[str, Any]
