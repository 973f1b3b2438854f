import pytest

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.selectors import label_match, selector_match
from queueing.apiserver.memory.store import Store
from queueing.apiserver.tree import Object, name_of


def thing(name: str, namespace: str = "a") -> Object:
    return {"metadata": {"name": name, "namespace": namespace}}


def test_the_past_can_be_read_until_it_is_forgotten() -> None:
    store = Store(history=100)
    kind = store.catalog.builtin("", "configmaps")
    first = store.insert(kind, thing("x"))
    then = store.version
    store.replace(kind, first, {**first, "data": {"a": "b"}})
    store.insert(kind, thing("y"))
    assert [name_of(obj) for obj in store.items_at(kind, then)] == ["x"]
    assert "data" not in store.items_at(kind, then)[0]
    store.compact()
    with pytest.raises(ApiFailure) as refused:
        store.items_at(kind, then)
    assert refused.value.code == 410


def test_history_is_bounded() -> None:
    store = Store(history=3)
    kind = store.catalog.builtin("", "configmaps")
    for number in range(5):
        store.insert(kind, thing(str(number)))
    assert len(list(store.since(kind, store.version - 3))) == 3
    with pytest.raises(ApiFailure):
        store.since(kind, 1)


def test_a_namespace_is_a_range_of_its_own() -> None:
    store = Store()
    kind = store.catalog.builtin("", "configmaps")
    for namespace in ("a", "a-b", "b"):
        store.insert(kind, thing("x", namespace))
    assert len(store.items(kind, "a")) == 1


def test_a_write_over_another_is_refused() -> None:
    store = Store()
    kind = store.catalog.builtin("", "configmaps")
    first = store.insert(kind, thing("x"))
    store.replace(kind, first, {**first, "data": {}})
    with pytest.raises(ApiFailure, match="the object has been modified"):
        store.replace(kind, first, first)
    with pytest.raises(ApiFailure, match="the object has been modified"):
        store.remove(kind, first)


def test_listeners_hear_in_order_until_they_stop() -> None:
    store = Store()
    kind = store.catalog.builtin("", "configmaps")
    heard: list[str] = []
    stop = store.listen(kind, lambda event: heard.append(f"{event.change} {event.version}"))
    first = store.insert(kind, thing("x"))
    store.remove(kind, first)
    stop()
    store.insert(kind, thing("x"))
    assert heard == ["ADDED 2", "DELETED 3"]


@pytest.mark.parametrize(
    ("selector", "labels", "want"),
    [
        (None, {}, True),
        ({"matchLabels": {"a": "b"}}, {"a": "b"}, True),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
            {"a": "c"},
            False,
        ),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, False),
    ],
)
def test_label_selectors_as_objects(
    selector: Object | None, labels: dict[str, str], want: bool
) -> None:
    assert selector_match(selector)(labels) is want


def test_an_unreadable_label_selector_is_a_bad_request() -> None:
    with pytest.raises(ApiFailure) as refused:
        label_match("a in b")
    assert refused.value.code == 400
