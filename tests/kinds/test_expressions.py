"""What expressions read of an object, and what they make of it."""

import json

import pytest

from queueing.kinds.expressions import NoValueError, expression
from queueing.kinds.paths import ABSENT

READS = [
    ("object.spec.replicas", {"object.spec.replicas"}),
    ("object.?status.active.orValue(0) > 0", {"object.status.active"}),
    (
        "item.?completions.orValue(item.?parallelism.orValue(1))",
        {"item.completions", "item.parallelism"},
    ),
    ("has(object.spec.leader)", {"object.spec.leader"}),
    ('object.metadata.annotations["x/y"] == "a"', {"object.metadata.annotations.x/y"}),
    (
        "object.status.jobs.exists(j, j.active > 0)",
        {"object.status.jobs.*", "object.status.jobs.*.active"},
    ),
    (
        "object.status.counts.exists(k, object.status.counts[k] > item.max)",
        {"object.status.counts.*", "item.max"},
    ),
    (
        "object.a.list.filter(x, x.on)[0].size + object.a[item.key].size",
        {"object.a.list.*", "object.a.list.*.on", "object.a.list.*.size", "object.a.*.size"}
        | {"item.key"},
    ),
    (
        "object.?a.list.orValue([]).filter(x, x.name == item.name).map(x, x.n).sum()",
        {"object.a.list.*", "object.a.list.*.name", "item.name", "object.a.list.*.n"},
    ),
]


@pytest.mark.parametrize(("text", "reads"), READS, ids=[text for text, _ in READS])
def test_an_expression_tells_which_fields_it_reads(text: str, reads: set[str]) -> None:
    found = expression(text, "object", "item").reads
    assert {".".join(path) for path in found} == reads


def values(text: str) -> dict[str, object]:
    return {"object": json.loads(text)}


VALUES = [
    ("object.?status.deep.number.orValue(7)", "{}", 7),
    ("object.?status.deep.number.orValue(7)", '{"status": {"deep": {}}}', 7),
    (
        "object.?status.deep.number.orValue(7)",
        '{"status": {"deep": {"number": 3}}}',
        3,
    ),
    ("object.spec.?count", '{"spec": {}}', ABSENT),
    ("object.spec.?count.orValue(1) + 1", '{"spec": {"count": 4}}', 5),
    ("size(object.spec.?list.orValue([]))", '{"spec": {"list": [1, 2]}}', 2),
    ("object.spec.?list.orValue([]).map(x, x * 2).sum()", '{"spec": {}}', 0),
    ('object.odd["a-b"]', '{"odd": {"a-b": "c"}}', "c"),
    (
        "object.spec.list.map(object, object.?x.orValue(1)).sum()",
        '{"spec": {"list": [{"x": 5}, {}]}}',
        6,
    ),
]


@pytest.mark.parametrize(("text", "thing", "value"), VALUES)
def test_an_expression_has_the_value_that_cel_gives_it(
    text: str, thing: str, value: object
) -> None:
    assert expression(text, "object").value(values(thing)) == value


FAILURES = [
    ("[9223372036854775807, 1].sum() > 0", "integer overflow"),
]


@pytest.mark.parametrize(("text", "why"), FAILURES)
def test_an_expression_that_has_no_value_says_why(text: str, why: str) -> None:
    with pytest.raises(NoValueError, match=why):
        expression(text, "object").value(values("{}"))
