"""Structural schemas: refusals that name the field, defaults, pruning."""

from typing import Any

import pytest

from tests.conformance.harness import GADGETS, Server, failed, gadget


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        pytest.param(
            {"size": "x"},
            [
                (
                    'spec.size: Invalid value: "string": spec.size in body must be of '
                    'type integer: "string"'
                )
            ],
            id="text for a number",
        ),
        pytest.param(
            {"size": 1.5}, ["spec.size", "must be of type integer"], id="a fraction for a number"
        ),
        pytest.param(
            {"size": True},
            ["spec.size", "must be of type integer", "boolean"],
            id="a boolean for a number",
        ),
        pytest.param(
            {"color": 7}, ["spec.color", "must be of type string"], id="a number for text"
        ),
        pytest.param(
            {"flag": "yes"}, ["spec.flag", "must be of type boolean"], id="text for a boolean"
        ),
        pytest.param({"atoms": "x"}, ["spec.atoms", "must be of type array"], id="text for a list"),
        pytest.param(
            {"nested": []}, ["spec.nested", "must be of type object"], id="a list for an object"
        ),
        pytest.param(
            {"tags": [None]}, ['spec.tags[0]: Invalid value: "null"'], id="null in a list"
        ),
        pytest.param(
            {"size": -1},
            [
                (
                    "spec.size: Invalid value: -1: spec.size in body should be greater "
                    "than or equal to 0"
                )
            ],
            id="minimum",
        ),
        pytest.param(
            {"size": 101},
            [
                (
                    "spec.size: Invalid value: 101: spec.size in body should be less than "
                    "or equal to 100"
                )
            ],
            id="maximum",
        ),
        pytest.param(
            {"ratio": 0},
            ["spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0"],
            id="exclusive minimum",
        ),
        pytest.param(
            {"step": 7},
            ["spec.step: Invalid value: 7: spec.step in body should be a multiple of 5"],
            id="multiple",
        ),
        pytest.param(
            {"color": "pink"},
            ['spec.color: Unsupported value: "pink": supported values: "red", "green", "blue"'],
            id="enumeration",
        ),
        pytest.param(
            {"code": "ABC"},
            ["""spec.code: Invalid value: "ABC": spec.code in body should match '^[a-z]{2,4}$'"""],
            id="pattern",
        ),
        pytest.param({"code": "abc\n"}, ["spec.code"], id="pattern and newline"),
        pytest.param(
            {"title": "x"},
            ['spec.title: Invalid value: "x": spec.title in body should be at least 2 chars long'],
            id="too short",
        ),
        pytest.param(
            {"title": "x" * 9},
            ["spec.title: Too long: may not be more than 8 bytes"],
            id="too long",
        ),
        pytest.param(
            {"when": "soon"},
            [
                (
                    'spec.when: Invalid value: "soon": spec.when in body must be of type '
                    'date-time: "soon"'
                )
            ],
            id="date",
        ),
        pytest.param({"replicas": 2**31}, ["spec.replicas"], id="int32"),
        pytest.param(
            {"atoms": ["a", "b", "c", "d"]},
            ["spec.atoms: Too many: 4: must have at most 3 items"],
            id="too many",
        ),
        pytest.param(
            {"atoms": []},
            ["spec.atoms: Invalid value: 0: spec.atoms in body should have at least 1 items"],
            id="too few",
        ),
        pytest.param(
            {"atoms": [1]}, ["spec.atoms[0]: Invalid value", "must be of type string"], id="element"
        ),
        pytest.param(
            {"tags": ["a", "a"]}, ['spec.tags[1]: Duplicate value: "a"'], id="duplicate word"
        ),
        pytest.param(
            {"parts": [{"name": "a"}, {"name": "a"}]},
            ['spec.parts[1]: Duplicate value: {"name":"a"}'],
            id="duplicate key",
        ),
        pytest.param(
            {"parts": [{"note": "a"}]}, ["spec.parts[0].name: Required value"], id="key missing"
        ),
        pytest.param({"nested": {}}, ["spec.nested.must: Required value"], id="required"),
        pytest.param(
            {"words": {"a": 1}},
            ["spec.words.a: Invalid value", "must be of type string"],
            id="value of a map",
        ),
        pytest.param(
            {"words": {"a": "1", "b": "2", "c": "3"}},
            ["spec.words: Too many: 3: must have at most 2 items"],
            id="too many properties",
        ),
        pytest.param({"either": {}}, ["spec.either"], id="none of one"),
        pytest.param({"either": {"left": "a", "right": "b"}}, ["spec.either"], id="both of one"),
        pytest.param(
            {"port": True}, ["spec.port", "must be of type integer,string"], id="int or string"
        ),
        pytest.param({"quantity": "1x"}, ["spec.quantity", "should match"], id="quantity"),
        pytest.param(
            {"size": -1, "color": "pink"}, ["spec.size", "spec.color", "["], id="two at once"
        ),
    ],
)
def test_a_broken_rule_is_refused_naming_the_field(
    server: Server, spec: Any, parts: list[str]
) -> None:
    answer = server.call("POST", server.gadgets, gadget(spec=spec))
    failed(answer, 422, 'Gadget.conformance.example.com "one" is invalid: ', *parts)


@pytest.mark.parametrize(
    ("spec", "reason", "field"),
    [
        ({"size": "x"}, "FieldValueTypeInvalid", "spec.size"),
        ({"size": -1}, "FieldValueInvalid", "spec.size"),
        ({"color": "pink"}, "FieldValueNotSupported", "spec.color"),
        ({"nested": {}}, "FieldValueRequired", "spec.nested.must"),
        ({"atoms": ["a"] * 4}, "FieldValueTooMany", "spec.atoms"),
        ({"title": "x" * 9}, "FieldValueTooLong", "spec.title"),
        ({"tags": ["a", "a"]}, "FieldValueDuplicate", "spec.tags[1]"),
    ],
)
def test_causes_are_for_machines(server: Server, spec: Any, reason: str, field: str) -> None:
    answer = server.call("POST", server.gadgets, gadget(spec=spec))
    assert (reason, field) in {(c["reason"], c["field"]) for c in answer["details"]["causes"]}


@pytest.mark.parametrize(
    "spec",
    [
        {"size": 0},
        {"size": 3.0},
        {"ratio": 0.1},
        {"ratio": 1},
        {"when": "2026-01-02T03:04:05Z"},
        {"when": "2026-01-02T03:04:05.678+02:00"},
        {"port": 80},
        {"port": "http"},
        {"quantity": "10Gi"},
        {"quantity": 4},
        {"maybe": None},
        {"free": {"a": [1, {"b": None}]}},
        {"either": {"left": "a"}},
        {"words": {}},
    ],
)
def test_what_keeps_the_rules_is_accepted(server: Server, spec: Any) -> None:
    assert server.call("POST", server.gadgets, gadget(spec=spec)).status == 201


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param(
            {}, {"mode": "Plain", "maybe": "x", "filled": {"inner": "deep"}}, id="defaults"
        ),
        pytest.param({"mode": "Mine"}, {"mode": "Mine"}, id="a value wins"),
        pytest.param({"mode": None}, {"mode": "Plain"}, id="null takes the default"),
        pytest.param({"size": None}, {"size": ...}, id="null goes where it is not allowed"),
        pytest.param({"words": {"a": None}}, {"words": {}}, id="null goes from a map"),
        pytest.param(
            {"free": {"a": None}}, {"free": {"a": None}}, id="null stays where anything goes"
        ),
        pytest.param({"maybe": None}, {"maybe": None}, id="null stays where it is allowed"),
        pytest.param(
            {"nested": {"must": "a"}}, {"nested": {"must": "a", "depth": 7}}, id="inside an object"
        ),
        pytest.param(
            {"parts": [{"name": "a"}]}, {"parts": [{"name": "a", "weight": 1}]}, id="inside a list"
        ),
        pytest.param({"filled": {}}, {"filled": {"inner": "deep"}}, id="inside a default"),
    ],
)
def test_defaults_are_filled_in(server: Server, spec: Any, want: Any) -> None:
    made = server.gadget(spec=spec)
    assert {name: made["spec"].get(name, ...) for name in want} == want


def test_defaults_are_filled_in_on_update(server: Server) -> None:
    server.gadget(spec={"mode": "Mine"})
    assert (
        server.merge(f"{server.gadgets}/one", {"spec": {"mode": None}})["spec"]["mode"] == "Plain"
    )


def test_without_a_spec_nothing_inside_is_filled_in(server: Server) -> None:
    body = gadget()
    del body["spec"]
    assert "spec" not in server.made(server.gadgets, body).body


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"nonsense": 1}, {"nonsense": ...}, id="a field"),
        pytest.param(
            {"nested": {"must": "a", "x": 1}}, {"nested": {"must": "a", "depth": 7}}, id="inside"
        ),
        pytest.param(
            {"parts": [{"name": "a", "x": 1}]},
            {"parts": [{"name": "a", "weight": 1}]},
            id="in a list",
        ),
        pytest.param({"free": {"x": 1}}, {"free": {"x": 1}}, id="kept where unknown is welcome"),
    ],
)
def test_unknown_fields_are_dropped(server: Server, spec: Any, want: Any) -> None:
    made = server.gadget(spec=spec)
    assert {name: made["spec"].get(name, ...) for name in want} == want


def test_unknown_fields_are_warned_about(server: Server) -> None:
    answer = server.call("POST", server.gadgets, gadget(spec={"nonsense": 1}))
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.nonsense\\""'


def test_unknown_fields_are_dropped_in_silence_on_demand(server: Server) -> None:
    body = gadget(spec={"nonsense": 1})
    answer = server.call("POST", server.gadgets, body, fieldValidation="Ignore")
    assert (answer.status, answer.headers.get("Warning")) == (201, None)


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_unknown_fields_are_refused_on_demand(server: Server, method: str) -> None:
    if method == "POST":
        body = gadget(spec={"nonsense": 1})
        answer = server.call("POST", server.gadgets, body, fieldValidation="Strict")
    else:
        server.gadget()
        patch = {"spec": {"nonsense": 1}}
        answer = server.merge(f"{server.gadgets}/one", patch, fieldValidation="Strict")
    assert answer.status in (400, 422)
    assert 'unknown field "spec.nonsense"' in answer.message


def test_a_field_at_the_root_is_dropped(server: Server) -> None:
    assert "extra" not in server.made(server.gadgets, {**gadget(), "extra": 1}).body


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_every_served_version_reads_the_object(server: Server, version: str) -> None:
    name = server.name("plain")
    body = {"apiVersion": "conformance.example.com/v1", "kind": "Plain", "metadata": {"name": name}}
    server.made(f"{GADGETS}/plains", {**body, "value": 3})
    path = server.later(f"/apis/conformance.example.com/{version}/plains/{name}")
    answer = server.call("GET", path)
    assert (answer["apiVersion"], answer["value"]) == (f"conformance.example.com/{version}", 3)


def test_every_served_version_writes_the_object(server: Server) -> None:
    name = server.name("plain")
    old = "/apis/conformance.example.com/v1beta1/plains"
    body = {
        "apiVersion": "conformance.example.com/v1beta1",
        "kind": "Plain",
        "metadata": {"name": name},
    }
    made = server.made(old, {**body, "value": 3})
    assert made["apiVersion"] == "conformance.example.com/v1beta1"
    path = server.later(f"{GADGETS}/plains/{name}")
    assert server.call("GET", path)["apiVersion"] == "conformance.example.com/v1"
    assert server.merge(f"{old}/{name}", {"value": 4})["value"] == 4


def test_a_deprecated_version_warns(server: Server) -> None:
    answer = server.call("GET", "/apis/conformance.example.com/v1beta1/plains")
    assert "conformance.example.com/v1beta1 Plain is old; use v1" in answer.headers["Warning"]
