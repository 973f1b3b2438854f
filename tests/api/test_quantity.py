from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queueing_api import quantity

STEADY = settings(max_examples=200, derandomize=True, deadline=None)
SUFFIXES = {
    **{
        suffix: Fraction(10) ** (3 * i - 9)
        for i, suffix in enumerate(["n", "u", "m", "", *"kMGTPE"])
    },
    **{
        suffix: Fraction(1024) ** i
        for i, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"], 1)
    },
    "e3": Fraction(1000),
    "E-3": Fraction(1, 1000),
    "e+2": Fraction(100),
}
texts = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**6),
    st.sampled_from(["", ".", ".5", ".001", ".000000001"]),
    st.sampled_from(sorted(SUFFIXES)),
)


def value_of(text: str) -> Fraction:
    suffix = max((known for known in SUFFIXES if text.endswith(known)), key=len)
    return Fraction(text.removesuffix(suffix).removesuffix(".")) * SUFFIXES[suffix]


def away_from_zero(value: Fraction) -> int:
    return ceil(value) if value >= 0 else -ceil(-value)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("1", "1"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("5.", "5"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1000000", "1M"),
        ("1000k", "1M"),
        ("1024Ki", "1Mi"),
        ("0.5Mi", "512Ki"),
        ("0.5Ki", "512"),
        ("1.5Ki", "1536"),
        ("1.0001Ki", "1024102400u"),
        ("0Gi", "0"),
        ("-1.5", "-1500m"),
        ("-2Ki", "-2Ki"),
        ("+3", "3"),
        ("1e3", "1e3"),
        ("12E6", "12e6"),
        ("1.5e3", "1500"),
        ("1E", "1E"),
        ("1000E", "1000E"),
        ("0.1n", "1n"),
        ("9223372036854775807", "9223372036854775807"),
    ],
)
def test_the_canonical_text_is_what_the_api_server_stores(text: str, want: str) -> None:
    assert quantity.canonical(text) == want


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "-",
        "1 Gi",
        "1KiB",
        "1K",
        "1e",
        "1e3Ki",
        "0x10",
        "\u0661",
        "1_000",
        "nan",
        "1e200",
        "1\n",
    ],
)
def test_a_text_that_is_no_quantity_is_refused_by_name(text: str) -> None:
    with pytest.raises(quantity.QuantityError) as refused:
        quantity.parse(text)
    assert repr(text) in str(refused.value)


def test_more_digits_than_anybody_needs_are_read_and_rounded_up() -> None:
    assert str(quantity.parse("0." + "3" * 1_000)) == "333333334n"
    assert str(quantity.parse("1." + "0" * 1_000 + "Gi")) == "1Gi"
    assert str(quantity.parse("0" * 1_000 + "7m")) == "7m"


def test_an_endless_text_is_refused_in_a_short_message() -> None:
    with pytest.raises(quantity.QuantityError) as refused:
        quantity.parse("9" * 10_000)
    assert len(str(refused.value)) < 400


@given(texts)
@STEADY
def test_parsing_is_exact_down_to_a_nano_unit(text: str) -> None:
    assert quantity.parse(text).nano == away_from_zero(value_of(text) * 10**9)


@given(texts)
@STEADY
def test_the_canonical_text_loses_nothing_and_stays(text: str) -> None:
    once = quantity.canonical(text)
    assert quantity.parse(once).nano == quantity.parse(text).nano
    # 562.5Ki is written 576000, without a suffix of its family; read again, it is a decimal.
    twice = quantity.canonical(once)
    assert once == twice or quantity.parse(text).form is quantity.Form.BINARY
    assert quantity.canonical(twice) == twice


@given(texts)
@STEADY
def test_coarser_units_round_away_from_zero(text: str) -> None:
    value = value_of(text)
    assert quantity.whole(text) == away_from_zero(value)
    assert quantity.milli(text) == away_from_zero(value * 1000)


@given(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu", "hugepages-2Mi", "pods"]),
    st.integers(-(2**63), 2**63 - 1),
)
@STEADY
def test_an_amount_survives_being_written_and_read(resource: str, value: int) -> None:
    text = quantity.format_amount(resource, value)
    assert quantity.amount(resource, text) == value


def test_json_numbers_count_as_their_text() -> None:
    assert quantity.milli(2) == 2000
    assert quantity.milli(0.25) == 250


def test_bytes_print_in_binary_and_the_rest_in_decimal() -> None:
    assert quantity.format_amount("memory", 2**31) == "2Gi"
    assert quantity.format_amount("nvidia.com/gpu", 2000) == "2k"
    assert quantity.format_amount("cpu", 1500) == "1500m"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("0.7", 7 * 0.1, id="digits times a power of ten"),
        pytest.param("0.3", 3 * 0.1, id="three tenths"),
        pytest.param("300m", 300 * 0.001, id="three tenths, in thousandths"),
        pytest.param("0.30", 30 * 0.01, id="zeros at the end count"),
        pytest.param("00.3", 3 * 0.1, id="zeros at the start do not"),
        pytest.param("-0.3", -3 * 0.1, id="negative"),
        pytest.param(0.3, 3 * 0.1, id="a number is its own text"),
        pytest.param("0.12345678912", 123456790 * 1e-9, id="nothing smaller than nano"),
        pytest.param("1234567890.123456789", 1234567890123456789 * 1e-9, id="many digits"),
        pytest.param("2e3", 2000.0, id="exponent"),
        pytest.param("3Ki", 3072.0, id="binary"),
        pytest.param("0.7Ki", 716800000000 * 1e-9, id="part of a binary unit"),
        pytest.param("16Ei", (2**63 - 1) * 10**9 * 1e-9, id="no more than an int64"),
        pytest.param("0", 0.0, id="zero"),
    ],
)
def test_a_float_as_apimachinery_makes_it(text: str | float, want: float) -> None:
    assert quantity.approximate(text) == want


def test_two_spellings_of_a_weight_differ_in_their_last_digit() -> None:
    assert quantity.approximate("0.3") > quantity.approximate("300m")
