from typing import Any

import jsonpatch
from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.apiserver.change.json_patch import patched
from queueing.apiserver.change.merge_patch import merged

leaves = st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab/~", max_size=3)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)
documents = st.dictionaries(st.text("abc", min_size=1, max_size=2), values, max_size=5)


@settings(max_examples=60, deadline=None)
@given(documents, documents)
def test_a_patch_made_elsewhere_leads_from_one_document_to_the_other(old: Any, new: Any) -> None:
    assert patched(old, jsonpatch.make_patch(old, new).patch) == new


@settings(max_examples=60, deadline=None)
@given(documents, documents)
def test_a_merge_patch_is_idempotent_and_leaves_its_input(target: Any, patch: Any) -> None:
    before = repr(target)
    once = merged(target, patch)
    assert merged(once, patch) == once
    assert repr(target) == before
