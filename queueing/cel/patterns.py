"""Regular expressions as RE2 reads them, matched by Python's engine at a cost that is known.

Python's engine tries one way after another, RE2 all at once. So a pattern that repeats a
repetition, for which the former may take for ever, is not evaluated; of others the cost is at most
that of every choice in every place.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from queueing.cel.values import RuntimeProblemError, UnsupportedError

_NOT_RE2 = re.compile(r"\\[1-9zZ]|\(\?[=!<#(>]|\(\?P[=>]|\(\?[a-zA-Z]*[aLmuxU]|\[:|[*+?}]\+")
"""What Python's engine reads otherwise than RE2, or RE2 refuses."""
_PIECE = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|[a-z-]*[:)]))?|\{[0-9]+(?:,[0-9]*)?\}|.",
    re.DOTALL,
)
_BLANKS = r"\t\n\f\r "
_SPELLED = {"$": r"\Z", r"\s": f"[{_BLANKS}]", r"\S": f"[^{_BLANKS}]"}
_QUANTITIES = ("*", "+", "?", "{")
_LENGTH_MAX = 1024
"""Letters of the longest pattern: to compile one takes a microsecond or two for each."""
_COMPILATION = 20
"""Steps that it takes at least to read a pattern."""
_STEPS = 64
"""Steps of the engine that cost as much as one of an evaluation."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    matches: re.Pattern[str]
    folds: bool
    """Whether capitals and small letters are the same to it."""
    repeats: int
    """Parts that may be read from anywhere to anywhere."""
    choices: int
    """Parts that may be there or not."""


def matches(text: str, pattern: str) -> bool:
    """Say whether a pattern matches anywhere in a text.

    Raises RuntimeProblemError when it is no pattern, UnsupportedError when it is not matched here.
    """
    found = _read(pattern)
    if found.folds and not text.isascii():
        raise UnsupportedError(f"the pattern {pattern!r} on letters beyond ASCII")
    return found.matches.search(text) is not None


def cost(text: str, pattern: str) -> int:
    """Return the steps that a match may take. Raises as `matches`."""
    found = _read(pattern)
    ways: int = (1 << found.choices) * (len(text) + 1) ** found.repeats
    return 1 + ways // _STEPS


def cost_of_unknown(text: str, pattern: str) -> int:
    """Return the steps of a match by a pattern that is read first. Raises as `matches`."""
    return len(pattern) + _COMPILATION + (cost(text, pattern) if len(pattern) < _LENGTH_MAX else 0)


@lru_cache(maxsize=1024)
def _read(pattern: str) -> _Pattern:
    if len(pattern) > _LENGTH_MAX:
        raise UnsupportedError("a pattern this long")
    if _NOT_RE2.search(pattern) or not pattern.isascii():
        raise UnsupportedError(f"the pattern {pattern!r}")
    pieces = [one[0] for one in _PIECE.finditer(pattern)]
    repeats, choices = _ways(pattern, pieces)
    spelled = "".join(
        one.replace(r"\s", _BLANKS) if one[0] == "[" else _SPELLED.get(one, one) for one in pieces
    )
    try:
        compiled = re.compile(spelled, re.ASCII)
    except re.error as error:
        raise RuntimeProblemError(f"{pattern!r} is no pattern: {error}") from error
    folds = bool(compiled.flags & re.IGNORECASE)
    return _Pattern(compiled, folds, repeats + (pieces[:1] != ["^"]), choices)


def _ways(pattern: str, pieces: list[str]) -> tuple[int, int]:
    """Count the parts whose length a text decides, and those that may be there or not.

    Raises UnsupportedError for a repeated group with such a part in it.
    """
    repeats = choices = 0
    groups = [False]
    """Whether there is such a part in each group that is open, the whole pattern first."""
    for piece, after in pairwise([*pieces, ""]):
        quantified = after[:1] in _QUANTITIES
        closes = piece == ")" and len(groups) > 1
        if piece[0] == "(" and piece[-1] != ")":
            groups.append(False)
        elif closes or piece[0] not in "(){*+?|":
            free = groups.pop() if closes else False
            if free and quantified and after != "?":
                raise UnsupportedError(f"the pattern {pattern!r}, which repeats a repetition,")
            repeats += quantified and after != "?"
            choices += after == "?"
            groups[-1] |= free or quantified
        elif piece == "|":
            choices += 1
            groups[-1] = True
    return repeats, choices
