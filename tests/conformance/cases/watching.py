"""Watches: where they start, what they tell, how they end."""

import pytest

from tests.conformance.harness import Server, config_map


def test_a_watch_tells_what_happens_after_its_version(server: Server) -> None:
    start = server.call("GET", server.gadgets).version
    server.gadget()
    with server.watch(server.gadgets, resourceVersion=start) as watch:
        server.merge(f"{server.gadgets}/one", {"spec": {"size": 2}})
        server.call("DELETE", f"{server.gadgets}/one")
        events = watch.take(3)
    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert [found["spec"].get("size") for _, found in events] == [None, 2, 2]


def test_versions_grow_from_event_to_event(server: Server) -> None:
    start = server.call("GET", server.gadgets).version
    server.gadget()
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 2}})
    server.call("DELETE", f"{server.gadgets}/one")
    with server.watch(server.gadgets, resourceVersion=start) as watch:
        versions = [int(found["metadata"]["resourceVersion"]) for _, found in watch.take(3)]
    assert versions == sorted(set(versions))


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}], ids=["no version", "zero"])
def test_a_watch_without_a_version_starts_with_what_is_there(
    server: Server, query: dict[str, str]
) -> None:
    server.made(server.configmaps, config_map("a"))
    with server.watch(server.configmaps, labelSelector="!x", **query) as watch:
        seen = watch.next()
        while seen[1]["metadata"]["name"] != "a":
            seen = watch.next()
    assert seen[0] == "ADDED"


def test_initial_events_end_with_a_bookmark(server: Server) -> None:
    server.gadget("a")
    server.gadget("b")
    query = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
    }
    with server.watch(server.gadgets, **query) as watch:
        events = watch.take(3)
    assert [kind for kind, _ in events] == ["ADDED", "ADDED", "BOOKMARK"]
    notes = events[2][1]["metadata"]["annotations"]
    assert notes == {"k8s.io/initial-events-end": "true"}
    assert events[2][1]["kind"] == "Gadget"
    assert int(events[2][1]["metadata"]["resourceVersion"]) > 0


def test_initial_events_need_a_version_match(server: Server) -> None:
    answer = server.call("GET", server.gadgets, watch="1", sendInitialEvents="true")
    assert answer.status == 422
    assert "sendInitialEvents" in answer.message


def test_a_label_selector_turns_changes_into_comings_and_goings(server: Server) -> None:
    start = server.call("GET", server.gadgets).version
    path = f"{server.gadgets}/one"
    server.gadget()
    server.merge(path, {"metadata": {"labels": {"in": "yes"}}})
    server.merge(path, {"spec": {"size": 2}})
    server.merge(path, {"metadata": {"labels": {"in": None}}})
    server.merge(path, {"spec": {"size": 3}})
    server.merge(path, {"metadata": {"labels": {"in": "yes"}}})
    with server.watch(server.gadgets, resourceVersion=start, labelSelector="in=yes") as watch:
        events = watch.take(4)
    assert [kind for kind, _ in events] == ["ADDED", "MODIFIED", "DELETED", "ADDED"]


def test_a_field_selector_turns_changes_into_comings_and_goings(server: Server) -> None:
    start = server.call("GET", server.gadgets).version
    server.gadget(spec={"color": "red"})
    server.merge(f"{server.gadgets}/one", {"spec": {"color": "blue"}})
    with server.watch(
        server.gadgets, resourceVersion=start, fieldSelector="spec.color=red"
    ) as watch:
        events = watch.take(2)
    assert [kind for kind, _ in events] == ["ADDED", "DELETED"]


def test_one_object_is_watched_by_name(server: Server) -> None:
    start = server.call("GET", server.gadgets).version
    server.gadget("a")
    server.gadget("b")
    selector = "metadata.name=b"
    with server.watch(server.gadgets, resourceVersion=start, fieldSelector=selector) as watch:
        assert watch.next()[1]["metadata"]["name"] == "b"


def test_a_namespaced_watch_sees_its_namespace_only(server: Server) -> None:
    start = server.call("GET", server.configmaps).version
    other = server.name("other")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}}
    server.made("/api/v1/namespaces", body)
    server.later(f"/api/v1/namespaces/{other}")
    server.made(f"/api/v1/namespaces/{other}/configmaps", config_map("theirs"))
    server.made(server.configmaps, config_map("ours"))
    with server.watch(
        server.configmaps,
        resourceVersion=start,
        labelSelector="!x",
        fieldSelector="metadata.name!=kube-root-ca.crt",
    ) as watch:
        assert watch.next()[1]["metadata"]["name"] == "ours"


def test_a_timeout_ends_a_watch(server: Server) -> None:
    start = server.call("GET", server.gadgets).version
    with server.watch(server.gadgets, resourceVersion=start, timeoutSeconds="1") as watch:
        assert watch.rest() == []


def test_a_watch_of_something_unknown_is_not_found(server: Server) -> None:
    assert server.call("GET", "/apis/nobody.example.com/v1/things", watch="1").status == 404


def test_a_broken_selector_is_refused_before_the_watch(server: Server) -> None:
    assert server.call("GET", server.gadgets, watch="1", labelSelector="a in").status == 400


def test_a_deletion_shows_the_last_state(server: Server) -> None:
    made = server.gadget(spec={"size": 5})
    server.call("DELETE", f"{server.gadgets}/one")
    with server.watch(server.gadgets, resourceVersion=made.version) as watch:
        kind, last = watch.next()
    assert (kind, last["spec"]["size"]) == ("DELETED", 5)
    assert int(last["metadata"]["resourceVersion"]) > int(made.version)


def test_a_held_deletion_is_a_change_first(server: Server) -> None:
    made = server.gadget(finalizers=["example.com/hold"])
    server.call("DELETE", f"{server.gadgets}/one")
    server.merge(f"{server.gadgets}/one", {"metadata": {"finalizers": None}})
    with server.watch(server.gadgets, resourceVersion=made.version) as watch:
        events = watch.take(2)
    assert [kind for kind, _ in events] == ["MODIFIED", "DELETED"]
    assert events[0][1]["metadata"]["deletionTimestamp"]


def test_a_write_that_changes_nothing_is_no_event(server: Server) -> None:
    made = server.gadget(spec={"size": 1})
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 1}})
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 2}})
    with server.watch(server.gadgets, resourceVersion=made.version) as watch:
        assert watch.next()[1]["spec"]["size"] == 2
