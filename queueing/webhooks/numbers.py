"""Numbers in labels and annotations, which are text."""

import re
from typing import Final

WHOLE_NUMBER: Final = re.compile("[+-]?[0-9]{1,9}")
"""What may stand for a number of seconds or pods; longer ones mean nothing."""
