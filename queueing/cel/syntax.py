"""Tokens → a tree: the grammar of CEL, operators as calls."""

from dataclasses import dataclass

from queueing.cel.tokens import Token, tokens
from queueing.cel.values import InvalidError, UnsupportedError

DEPTH_MAX = 60
"""Nesting at which an expression is given up, long before Python's own limit."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Identifier:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`; with `optional`, `operand.?field`."""

    operand: "Node"
    field: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function, a method of `target`, or an operator, which is named by its sign."""

    name: str
    arguments: tuple["Node", ...]
    target: "Node | None" = None


@dataclass(frozen=True, slots=True)
class ListOf:
    """`[…]`."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """`{key: value, …}`."""

    entries: tuple[tuple["Node", "Node"], ...]


@dataclass(frozen=True, slots=True)
class Message:
    """`Type{field: value, …}`."""

    name: str
    fields: tuple[tuple[str, "Node"], ...]


Node = Message | Literal | Identifier | Select | Call | ListOf | MapOf

_LEVELS = (
    ("||",),
    ("&&",),
    ("<", "<=", ">", ">=", "==", "!=", "in"),
    ("+", "-"),
    ("*", "/", "%"),
)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let"}
    | {"loop", "package", "namespace", "return", "var", "void", "while"}
)


def parse(text: str) -> Node:
    """Read an expression. Raises InvalidError, or UnsupportedError for what is not known here."""
    parser = _Parser(tokens(text))
    found = parser.expression()
    parser.expect("end")
    return found


def size_of(node: object) -> int:
    """Count the parts of a tree."""
    if isinstance(node, tuple):
        return sum(map(size_of, node))
    inner = (getattr(node, slot) for slot in getattr(node, "__slots__", ()))
    return sum(map(size_of, inner), 1) if hasattr(node, "__slots__") else 0


class _Parser:
    """Recursive descent, a method per kind of expression."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str:
        """Take the next token when it is one of these marks or words; else return nothing."""
        token = self._next
        if token.kind in ("mark", "name") and token.text in texts:
            self._at += 1
            return token.text
        return ""

    def expect(self, wanted: str) -> Token:
        """Take a token of a kind, or a mark. Raises InvalidError when another one stands there."""
        token = self._next
        if wanted not in (token.kind, token.text):
            shown = repr(token.text) if token.text else "the end"
            raise InvalidError(f"syntax error at position {token.at + 1}: unexpected {shown}")
        self._at += 1
        return token

    def expression(self) -> Node:
        """Read a whole expression: a condition with its two branches, or less."""
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise UnsupportedError("an expression nested this deeply")
        found = self._binary(0)
        if self._take("?"):
            then = self._binary(0)
            self.expect(":")
            found = Call("?:", (found, then, self.expression()))
        self._depth -= 1
        return found

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        found = self._binary(level + 1)
        while operator := self._take(*_LEVELS[level]):
            found = Call(operator, (found, self._binary(level + 1)))
        return found

    def _unary(self) -> Node:
        signs = []
        while sign := self._take("!", "-"):
            signs.append(sign)
        found = self._member()
        for sign in reversed(signs):
            found = Call("!" if sign == "!" else "neg", (found,))
        return found

    def _member(self) -> Node:
        found = self._primary()
        while mark := self._take(".", ".?", "[", "[?"):
            if mark in ("[", "[?"):
                index = self.expression()
                self.expect("]")
                found = Call("index" if mark == "[" else "optional index", (found, index))
                continue
            field = self.expect("name").text
            if mark == "." and self._take("("):
                found = Call(field, self._arguments(")"), found)
            else:
                found = Select(found, field, optional=mark == ".?")
        return found

    def _primary(self) -> Node:
        if self._take("("):
            found = self.expression()
            self.expect(")")
            return found
        if self._take("["):
            return ListOf(self._arguments("]"))
        if self._take("{"):
            return MapOf(self._entries())
        token = self._next
        if token.kind in ("int", "float", "text"):
            self._at += 1
            return Literal(token.value)
        name = self.expect("name").text
        if name in _WORDS:
            return Literal(_WORDS[name])
        if name in _RESERVED:
            raise InvalidError(f"syntax error at position {token.at + 1}: {name} is reserved")
        if self._take("{"):
            return Message(name, self._fields())
        return Call(name, self._arguments(")")) if self._take("(") else Identifier(name)

    def _arguments(self, end: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self._take(end):
            if found:
                self.expect(",")
                if end != ")" and self._take(end):
                    break
            if self._take("?"):
                raise UnsupportedError("an optional item of a list")
            found.append(self.expression())
        return tuple(found)

    def _entries(self) -> tuple[tuple[Node, Node], ...]:
        found: list[tuple[Node, Node]] = []
        while not self._take("}"):
            if found:
                self.expect(",")
                if self._take("}"):
                    break
            if self._take("?"):
                raise UnsupportedError("an optional entry of a map")
            key = self.expression()
            self.expect(":")
            found.append((key, self.expression()))
        return tuple(found)

    def _fields(self) -> tuple[tuple[str, Node], ...]:
        found: list[tuple[str, Node]] = []
        while not self._take("}"):
            if found:
                self.expect(",")
            name = self.expect("name").text
            self.expect(":")
            found.append((name, self.expression()))
        return tuple(found)
