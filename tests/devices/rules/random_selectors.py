"""Random selectors: expressions of every type, built by rule, most of them well typed.

A seed gives the same expressions always, so that what Kubernetes answers to them can be recorded.
"""

from collections.abc import Callable, Iterator
from random import Random
from types import MappingProxyType

from tests.devices.rules.selector_cases import A, C

DEPTH = 3
STRAY = 0.03
"""How often something of another type stands where one is expected."""

_STRINGS = ("'gpu'", "'mig'", "'H100'", "''", "'NVIDIA'", '"1g.10gb"', "'a-b c'", "'80'", "'é'")
_INTS = (
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "580",
    "9223372036854775807",
    "-9223372036854775808",
    "0x1F",
)
_DOUBLES = ("0.0", "2.5", "1e3", "-0.5", "3.0", "1.0e-2")
_QUANTITIES = (
    "80Gi",
    "9984Mi",
    "2500m",
    "0",
    "1k",
    "1.5Gi",
    "1e3",
    "12E",
    "-1",
    "100u",
    "x",
    "1 Gi",
)
_VERSIONS = (
    "1.2.3",
    "580.126.20",
    "1.2.3-beta.1",
    "0.0.0",
    "1.2.3-beta.10",
    "1.2.3+b",
    "1.2",
    "v1.2.3",
)
_PATTERNS = ("^NVIDIA", "H[0-9]+", "gpu|mig", "[a-z]+$", "(", "^$", "\\\\d+", "1g[.]10gb")
_NAMES = ("type", "model", "profile", "index", "healthy", "driverVersion", "nope")
_COMPARED = ("==", "!=", "<", "<=", ">", ">=")


class Grammar:
    """Chooses one expression after another."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._locals: list[tuple[str, str]] = []

    def selectors(self) -> Iterator[str]:
        """Yield expressions without an end."""
        while True:
            self._locals = []
            yield self.make("bool", self._random.randint(1, DEPTH))

    def make(self, kind: str, depth: int) -> str:
        """Return an expression of a type, or now and then of another one."""
        if self._random.random() < STRAY:
            kind = self._random.choice(tuple(_RULES))
        known = [name for name, found in self._locals if found == kind]
        if known and self._random.random() < 0.4:
            return self._random.choice(known)
        leaves, branches = _RULES[kind]
        rules = leaves if depth <= 0 or (leaves and self._random.random() < 0.2) else branches
        return self._random.choice(rules)(self, depth - 1)

    def pick(self, options: tuple[str, ...]) -> str:
        return self._random.choice(options)

    def within(self, name: str, kind: str, body: str, depth: int) -> str:
        """Return an expression that may use a variable."""
        self._locals.append((name, kind))
        made = self.make(body, depth)
        self._locals.pop()
        return made


Rule = Callable[[Grammar, int], str]


def _fixed(*options: str) -> Rule:
    return lambda g, _: g.pick(options)


def _of(pattern: str, *kinds: str) -> Rule:
    """Fill a pattern's places, one by one, with expressions of these types."""

    def rule(g: Grammar, depth: int) -> str:
        made = pattern
        for kind in kinds:
            made = made.replace("_", g.make(kind, depth).replace("_", "\0"), 1)
        return made.replace("\0", "_")

    return rule


def _compared(kind: str) -> Rule:
    return lambda g, n: f"{g.make(kind, n)} {g.pick(_COMPARED)} {g.make(kind, n)}"


def _over(kind: str, items: Rule) -> Rule:
    """Ask something of the members of a list or of the keys of a map."""

    def rule(g: Grammar, depth: int) -> str:
        macro = g.pick(("all", "exists", "exists_one"))
        name = f"x{len(g._locals)}"
        return f"{items(g, depth)}.{macro}({name}, {g.within(name, kind, 'bool', depth)})"

    return rule


def _bound(kind: str) -> Rule:
    def rule(g: Grammar, depth: int) -> str:
        name = f"x{len(g._locals)}"
        return f"cel.bind({name}, {g.make(kind, depth)}, {g.within(name, kind, 'bool', depth)})"

    return rule


def _texts(g: Grammar, depth: int) -> str:
    return g.make("texts", depth)


def _mapped(g: Grammar, depth: int) -> str:
    name = f"x{len(g._locals)}"
    body = g.pick(("map", "filter"))
    kind = "string" if body == "map" else "bool"
    return f"{_texts(g, depth)}.{body}({name}, {g.within(name, 'string', kind, depth)})"


def _quoted(options: tuple[str, ...], pattern: str) -> Rule:
    return lambda g, _: pattern.format(g.pick(options))


_BOOL_LEAVES = (
    _fixed("true", "false", f"{A}.healthy", "device.allowMultipleAllocations"),
    _quoted(_NAMES, f"has({A}.{{}})"),
    _quoted(_NAMES, f"'{{}}' in {A}"),
    _fixed(f"has({C}.memory)", f"'engines' in {C}", f"{A}.?healthy.orValue(true)"),
    _quoted(_QUANTITIES, "isQuantity('{}')"),
    _quoted(_VERSIONS, "isSemver('{}')"),
    _quoted(_VERSIONS, "isSemver('{}', true)"),
    _quoted(_NAMES, f"{A}[?'{{}}'].hasValue()"),
)
_BOOL_BRANCHES = (
    _of("(_ && _)", "bool", "bool"),
    _of("(_ || _)", "bool", "bool"),
    _of("!(_)", "bool"),
    _of("(_ ? _ : _)", "bool", "bool", "bool"),
    *(_compared(kind) for kind in ("int", "double", "string", "bool")),
    _of("_ in [_, _]", "int", "int", "int"),
    _of("_ in _", "string", "texts"),
    _of("_ == _", "texts", "texts"),
    _of("_ == _", "quantity", "quantity"),
    _of("_ == _", "semver", "semver"),
    *(_of(f"_.{one}(_)", "string", "string") for one in ("startsWith", "endsWith", "contains")),
    lambda g, n: f"{g.make('string', n)}.matches('{g.pick(_PATTERNS)}')",
    *(_of(f"_.{one}(_)", "quantity", "quantity") for one in ("isGreaterThan", "isLessThan")),
    *(_of(f"_.{one}(_)", "semver", "semver") for one in ("isGreaterThan", "isLessThan")),
    _of("_.isInteger()", "quantity"),
    _over("string", _texts),
    _over("string", _fixed(A)),
    _over("int", lambda g, n: f"[{g.make('int', n)}, {g.make('int', n)}]"),
    *(_bound(kind) for kind in ("int", "string", "semver", "quantity")),
    _of("bool(_)", "string"),
)
_STRING_BRANCHES = (
    _of("(_ + _)", "string", "string"),
    _of("_.lowerAscii()", "string"),
    _of("_.upperAscii()", "string"),
    _of("_.trim()", "string"),
    _of("_.replace(_, _)", "string", "string", "string"),
    _of("_.replace(_, _, _)", "string", "string", "string", "int"),
    _of("_.substring(_)", "string", "int"),
    _of("_.substring(_, _)", "string", "int", "int"),
    _of("_.charAt(_)", "string", "int"),
    _of("_.join(_)", "texts", "string"),
    _of("_[_]", "texts", "int"),
    _of("(_ ? _ : _)", "bool", "string", "string"),
    _of("string(_)", "int"),
    _of("string(_)", "bool"),
    _of(f"{A}.?profile.orValue(_)", "string"),
)
_RULES = MappingProxyType(
    {
        "bool": (_BOOL_LEAVES, _BOOL_BRANCHES),
        "string": (
            (
                _fixed(*_STRINGS),
                _fixed("device.driver", f"{A}.type", f"{A}.model", f"{A}['profile']"),
                _fixed("device.attributes['resource.kubernetes.io'].pcieRoot"),
            ),
            _STRING_BRANCHES,
        ),
        "int": (
            (_fixed(*_INTS), _fixed(f"{A}.index")),
            (
                *(_of(f"(_ {sign} _)", "int", "int") for sign in "+-*/%"),
                _of("-(_)", "int"),
                _of("size(_)", "string"),
                _of("_.size()", "texts"),
                _of("_.indexOf(_)", "string", "string"),
                _of("_.lastIndexOf(_)", "string", "string"),
                _of("int(_)", "string"),
                _of("int(_)", "double"),
                _of("_.compareTo(_)", "quantity", "quantity"),
                _of("_.compareTo(_)", "semver", "semver"),
                _of("_.asInteger()", "quantity"),
                *(_of(f"_.{one}()", "semver") for one in ("major", "minor", "patch")),
                _of("(_ ? _ : _)", "bool", "int", "int"),
            ),
        ),
        "double": (
            (_fixed(*_DOUBLES),),
            (
                *(_of(f"(_ {sign} _)", "double", "double") for sign in "+-*/"),
                _of("double(_)", "int"),
                _of("_.asApproximateFloat()", "quantity"),
            ),
        ),
        "quantity": (
            (
                _quoted(_QUANTITIES, "quantity('{}')"),
                _fixed(f"{C}.memory", f"{C}.memory", f"{C}.engines"),
            ),
            (
                _of("_.add(_)", "quantity", "quantity"),
                _of("_.sub(_)", "quantity", "quantity"),
                _of("_.add(_)", "quantity", "int"),
                _of("_.sub(_)", "quantity", "int"),
            ),
        ),
        "semver": (
            (_quoted(_VERSIONS, "semver('{}')"), _fixed(f"{A}.driverVersion")),
            (_quoted(_VERSIONS, "semver('{}', true)"), _of("semver(_)", "string")),
        ),
        "texts": (
            (_fixed("['gpu', 'mig']", "[]", f"{A}.model.split(' ')", "['']"),),
            (
                _of("_.split(_)", "string", "string"),
                _of("[_, _]", "string", "string"),
                _of("(_ + _)", "texts", "texts"),
                _mapped,
            ),
        ),
    }
)
"""By type: what has no parts, and what has some."""
