from typing import Any

import pytest

from queueing.sim.yaml_text import ManifestError, line_of, read


def value_of(text: str) -> Any:
    return next(read(text, file="f.yaml"))[0]


@pytest.mark.parametrize(
    ("written", "want"),
    [
        pytest.param("2026-01-31", "2026-01-31", id="a date is text"),
        pytest.param("12:30:45", "12:30:45", id="a time is text and not a base-60 number"),
        pytest.param("yes", True, id="yes is a boolean, as for kubectl"),
        pytest.param("off", False, id="off is a boolean"),
        pytest.param('"yes"', "yes", id="a quoted word is text"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("010", 8, id="a leading zero makes an octal number"),
        pytest.param("-0o17", -15, id="another octal number"),
        pytest.param("080", 80.0, id="a leading zero makes none with an 8"),
        pytest.param("0b101", 5, id="binary"),
        pytest.param("1_000", 1000, id="underscores in a number"),
        pytest.param("1_a", "1_a", id="underscores in what is none"),
        pytest.param("0xg", "0xg", id="a number of no base"),
        pytest.param("1e3", 1000.0, id="an exponent makes a number"),
        pytest.param("1.5", 1.5, id="a fraction"),
        pytest.param("-7", -7, id="a negative integer"),
        pytest.param("1Gi", "1Gi", id="a quantity is text"),
        pytest.param("", None, id="nothing is null"),
        pytest.param("~", None, id="a tilde is null"),
        pytest.param("!!str 7", "7", id="what is tagged as text is text"),
        pytest.param("! 7", "7", id="what is tagged as nothing in particular is text"),
    ],
)
def test_scalars_mean_what_they_mean_to_kubectl(written: str, want: object) -> None:
    got = value_of(f"field: {written}\n")["field"]
    assert got == want
    assert type(got) is type(want)


def test_aliases_and_merges_are_expanded() -> None:
    text = "base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\nsame: *base\n"
    assert value_of(text) == {
        "base": {"a": 1, "b": 2},
        "more": {"a": 1, "b": 3},
        "same": {"a": 1, "b": 2},
    }


def test_a_name_may_be_given_anew() -> None:
    assert value_of("[&x 1, *x, &x 2, *x]") == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1}\n{"a": "}{"}\n', id="one per line"),
        pytest.param('{\n\t"a": 1\n}\r\n  {"a": "}{"}\n', id="over several lines"),
        pytest.param('{"a": 1}\n\n---\n{"a": "}{"}', id="with a marker between them"),
    ],
)
def test_json_objects_may_follow_each_other(text: str) -> None:
    found = list(read(text, file="f.json"))
    assert [value for value, _ in found] == [{"a": 1}, {"a": "}{"}]
    assert [line_of(node) for _, node in found] == [
        1,
        text[: text.index('{"a": "}')].count("\n") + 1,
    ]


def test_tabs_are_white_space_in_json() -> None:
    assert value_of('{\n\t"a":\t[1, "x"]\n}') == {"a": [1, "x"]}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        pytest.param("a: 1\nb: [1, 2\n", 3, "flow sequence", id="an open bracket"),
        pytest.param("a: 1\na: 2\n", 2, "'a' is written twice", id="a key that is written twice"),
        pytest.param("a: &x\n  b: *x\n", 1, "contains it", id="a value that contains itself"),
        pytest.param("a: 1\n? [b]\n: 2\n", 2, "must be a string", id="a key that is a list"),
        pytest.param("<<: 7\n", 1, "only mappings can be merged", id="a merge of a number"),
        pytest.param("a: \x01\n", 1, "control characters", id="a control character"),
        pytest.param("a: 1\nb: *c\n", 2, "undefined alias 'c'", id="an alias of nothing"),
    ],
)
def test_broken_text_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(ManifestError) as caught:
        list(read(text, file="f.yaml"))
    assert caught.value.line == line
    assert problem in caught.value.problem
    assert str(caught.value).startswith(f"f.yaml:{line}: ")


def test_nested_aliases_cannot_blow_a_small_file_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("queueing.sim.yaml_text.NODES_MAX", 10_000)
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(ManifestError, match="are there nested aliases"):
        list(read("\n".join(levels), file="f.yaml"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 5_000 + "]" * 5_000, id="lists"),
        pytest.param("[" * 100_000, id="lists that never end"),
        pytest.param('{"a":' * 100_000, id="mappings that never end"),
        pytest.param("- " * 100_000, id="lists in one line"),
        pytest.param(
            "- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 1_000)),
            id="lists of one another",
        ),
    ],
)
def test_a_text_that_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(ManifestError, match="nested too deeply"):
        list(read(text, file="f.yaml"))
