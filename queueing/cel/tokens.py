"""CEL text → tokens."""

import re
from dataclasses import dataclass

from queueing.cel.values import InvalidError, UnsupportedError

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n\f]+|//[^\n]*)"
    r"|(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<text>[bBrR]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<quoted>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<mark>&&|\|\||==|!=|<=|>=|\[\?|\.\?|[-+*/%<>!?:.,()\[\]{}])",
    re.DOTALL,
)
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_ESCAPE = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)
_OCTAL_GROUP = 4


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an expression; `value` is what a literal stands for."""

    kind: str
    text: str
    at: int
    value: str | int | float | None = None


def tokens(text: str) -> list[Token]:
    """Split an expression, ending with a token of the kind `end`.

    Raises InvalidError where no token begins, UnsupportedError for literals of bytes and unsigned
    numbers.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InvalidError(f"syntax error at position {at + 1}: {text[at : at + 10]!r}")
        if match.lastgroup != "space":
            found.append(_token(str(match.lastgroup), match.group(), at))
        at = match.end()
    return [*found, Token("end", "", at)]


def _token(kind: str, text: str, at: int) -> Token:
    if kind == "uint":
        raise UnsupportedError(f"the unsigned number {text}")
    if kind == "int":
        return Token(kind, text, at, int(text, 0) if text[:2] == "0x" else int(text))
    if kind == "float":
        return Token(kind, text, at, float(text))
    if kind == "quoted":
        return Token("name", text[1:-1], at)
    if kind == "text":
        return Token(kind, text, at, _unquoted(text))
    return Token(kind, text, at)


def _unquoted(text: str) -> str:
    body = text.lstrip("bBrR")
    prefix = text[: len(text) - len(body)].lower()
    if "b" in prefix:
        raise UnsupportedError("a literal of bytes")
    quotes = 3 if body[:3] in ('"""', "'''") else 1
    inner = body[quotes:-quotes]
    return inner if "r" in prefix else _ESCAPE.sub(_escaped, inner)


def _escaped(match: re.Match[str]) -> str:
    for number in (1, 2, 3):
        if match.group(number):
            return chr(int(match.group(number), 16))
    if match.group(_OCTAL_GROUP):
        return chr(int(match.group(_OCTAL_GROUP), 8))
    found = _ESCAPES.get(match.group(5))
    if found is None:
        raise InvalidError(f"unknown escape {match.group()!r}")
    return found
