"""Lists: selectors, pages, exact versions."""

from typing import Any

import pytest

from tests.conformance.harness import GADGETS, Server, config_map, failed

FIVE: tuple[tuple[str, dict[str, str], dict[str, Any]], ...] = (
    ("a", {"tier": "web", "env": "test"}, {"color": "red"}),
    ("b", {"tier": "web", "env": "live"}, {"color": "blue"}),
    ("c", {"tier": "db", "env": "live"}, {"color": "red"}),
    ("d", {"env": "9"}, {"size": 1}),
    ("e", {}, {}),
)


def five(server: Server) -> None:
    for name, labels, spec in FIVE:
        server.gadget(name, spec, labels=labels)


def names(answer: Any) -> str:
    assert answer.status == 200, answer
    return "".join(item["metadata"]["name"] for item in answer["items"])


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ("tier=web", "ab"),
        ("tier==web", "ab"),
        ("tier!=web", "cde"),
        ("tier", "abc"),
        ("!tier", "de"),
        ("tier in (web,db)", "abc"),
        ("tier in (web), env in (live)", "b"),
        ("tier notin (web)", "cde"),
        ("env=live,tier=db", "c"),
        ("env>5", "d"),
        ("env<5", ""),
        ("", "abcde"),
        ("nothing=here", ""),
    ],
)
def test_label_selectors(server: Server, selector: str, want: str) -> None:
    five(server)
    assert names(server.call("GET", server.gadgets, labelSelector=selector)) == want


@pytest.mark.parametrize("selector", ["a in b", "=x", "a=b=c", "a in (", "x y"])
def test_a_broken_label_selector_is_a_bad_request(server: Server, selector: str) -> None:
    failed(server.call("GET", server.gadgets, labelSelector=selector), 400)


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ("metadata.name=c", "c"),
        ("metadata.name!=c", "abde"),
        ("spec.color=red", "ac"),
        ("spec.color!=red", "bde"),
        ("spec.color=", "de"),
        ("spec.color=red,metadata.name=a", "a"),
        ("status.phase=x", ""),
    ],
)
def test_field_selectors(server: Server, selector: str, want: str) -> None:
    five(server)
    assert names(server.call("GET", server.gadgets, fieldSelector=selector)) == want


def test_the_namespace_is_a_field(server: Server) -> None:
    five(server)
    selector = f"metadata.namespace={server.namespace}"
    assert names(server.call("GET", f"{GADGETS}/gadgets", fieldSelector=selector)) == "abcde"


@pytest.mark.parametrize("selector", ["spec.size=1", "nothing=1"])
def test_a_field_that_is_not_offered_is_a_bad_request(server: Server, selector: str) -> None:
    answer = server.call("GET", server.gadgets, fieldSelector=selector)
    failed(answer, 400, "field label not supported")


def test_a_config_map_offers_only_its_name(server: Server) -> None:
    answer = server.call("GET", server.configmaps, fieldSelector="data.a=1")
    failed(answer, 400)


def test_secrets_are_selected_by_type(server: Server) -> None:
    path = f"/api/v1/namespaces/{server.namespace}/secrets"
    for name, kind in (("a", "example.com/x"), ("b", "Opaque")):
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": kind}
        server.made(path, body)
    assert names(server.call("GET", path, fieldSelector="type=example.com/x")) == "a"


def test_a_list_says_what_it_is(server: Server) -> None:
    answer = server.call("GET", server.gadgets)
    assert answer["kind"] == "GadgetList"
    assert answer["apiVersion"] == "conformance.example.com/v1"
    assert int(answer.version) > 0
    assert answer["items"] == []


def test_items_of_custom_lists_carry_their_kind(server: Server) -> None:
    server.gadget()
    item = server.call("GET", server.gadgets)["items"][0]
    assert (item["kind"], item["apiVersion"]) == ("Gadget", "conformance.example.com/v1")


def test_items_of_built_in_lists_do_not_carry_their_kind(server: Server) -> None:
    server.made(server.configmaps, config_map())
    items = server.call("GET", server.configmaps)["items"]
    assert all("kind" not in item for item in items)


def test_a_list_of_all_namespaces_holds_ours(server: Server) -> None:
    server.gadget("mine")
    found = server.call("GET", f"{GADGETS}/gadgets")["items"]
    assert (server.namespace, "mine") in {
        (item["metadata"]["namespace"], item["metadata"]["name"]) for item in found
    }


def test_a_list_is_read_page_by_page(server: Server) -> None:
    five(server)
    pages, token = [], ""
    while True:
        query: dict[str, Any] = {"limit": 2, **({"continue": token} if token else {})}
        answer = server.call("GET", server.gadgets, **query)
        pages.append((names(answer), answer["metadata"].get("remainingItemCount", 0)))
        token = answer["metadata"].get("continue", "")
        if not token:
            break
    assert pages == [("ab", 3), ("cd", 1), ("e", 0)]


def test_pages_show_the_state_of_the_first(server: Server) -> None:
    five(server)
    first = server.call("GET", server.gadgets, limit=2)
    server.gadget("bb")
    server.call("DELETE", f"{server.gadgets}/d")
    server.merge(f"{server.gadgets}/c", {"spec": {"size": 77}})
    query: dict[str, Any] = {"limit": 9, "continue": first["metadata"]["continue"]}
    rest = server.call("GET", server.gadgets, **query)
    assert names(rest) == "cde"
    assert "size" not in rest["items"][0]["spec"]
    assert rest.version == first.version


def test_a_selected_list_does_not_count_the_rest(server: Server) -> None:
    five(server)
    answer = server.call("GET", server.gadgets, limit=1, labelSelector="tier")
    assert names(answer) == "a"
    assert "remainingItemCount" not in answer["metadata"]
    assert answer["metadata"]["continue"]


def test_a_broken_page_token_is_a_bad_request(server: Server) -> None:
    answer = server.call("GET", server.gadgets, limit=1, **{"continue": "nonsense"})
    failed(answer, 400, "continue key is not valid")


def test_a_page_token_and_a_version_do_not_go_together(server: Server) -> None:
    five(server)
    token = server.call("GET", server.gadgets, limit=2)["metadata"]["continue"]
    query: dict[str, Any] = {"limit": 2, "continue": token, "resourceVersion": "5"}
    assert server.call("GET", server.gadgets, **query).status in (400, 422)


def test_an_exact_version_shows_the_past(server: Server) -> None:
    five(server)
    then = server.call("GET", server.gadgets).version
    server.call("DELETE", f"{server.gadgets}/a")
    server.gadget("f")
    query = {"resourceVersion": then, "resourceVersionMatch": "Exact"}
    answer = server.call("GET", server.gadgets, **query)
    assert (names(answer), answer.version) == ("abcde", then)


@pytest.mark.parametrize("match", ["NotOlderThan", ""])
def test_a_list_is_not_older_than_asked(server: Server, match: str) -> None:
    made = server.gadget()
    query = {"resourceVersion": made.version, **({"resourceVersionMatch": match} if match else {})}
    answer = server.call("GET", server.gadgets, **query)
    assert names(answer) == "one"
    assert int(answer.version) >= int(made.version)


def test_version_zero_takes_any_state(server: Server) -> None:
    assert server.call("GET", server.configmaps, resourceVersion="0").status == 200


def test_a_version_of_the_future_is_not_there_yet(server: Server) -> None:
    answer = server.call("GET", server.gadgets, resourceVersion="99999999")
    failed(answer, 504, "Too large resource version")
    assert answer.reason == "Timeout"


@pytest.mark.parametrize(
    ("query", "part"),
    [
        pytest.param({"resourceVersionMatch": "Exact"}, "resourceVersionMatch", id="no version"),
        pytest.param(
            {"resourceVersionMatch": "Sometimes", "resourceVersion": "5"},
            "resourceVersionMatch",
            id="unknown word",
        ),
        pytest.param(
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"}, "exact", id="exactly zero"
        ),
    ],
)
def test_a_broken_version_match_is_refused(server: Server, query: Any, part: str) -> None:
    failed(server.call("GET", server.gadgets, **query), 422, part)


@pytest.mark.parametrize("query", [{"resourceVersion": "abc"}, {"limit": "x"}])
def test_a_number_that_is_none_is_refused(server: Server, query: Any) -> None:
    assert server.call("GET", server.gadgets, **query).status in (400, 500)
