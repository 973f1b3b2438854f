"""Server-side apply: merge what an owner wants, refuse what others own, drop what it gave up."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from queueing.apiserver.change.field_paths import (
    FieldPath,
    all_fields,
    differences,
    flat,
    key_text,
    nested,
    value_text,
)
from queueing.apiserver.change.ownership import (
    Manager,
    entries_of,
    less,
    owned_part,
    paths_of,
    with_entries,
)
from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.schema.structure import ListKind, Structure
from queueing.apiserver.tree import Object, copied, without_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One apply: who wants what, and whether others' claims are overruled."""

    config: Object
    manager: Manager
    force: bool
    now: str


def applied(structure: Structure, live: Object, application: Application) -> Object:
    """Return the live object after the apply, managed fields included; 409 on a conflict."""
    config = application.config
    wanted = set(flat(all_fields(structure, owned_part(config))))
    entries = entries_of(live)
    ours = [entry for entry in entries if application.manager.owns(entry)]
    others = [entry for entry in entries if not application.manager.owns(entry)]
    made = merge(structure, live, _without_managed(config))
    changes = differences(structure, owned_part(live), owned_part(made))
    touched = {path for path, present in changes if present}
    if not application.force:
        _refuse_conflicts(others, touched)
    others = [left for entry in others if (left := less(entry, touched)) is not None]
    given_up = _paths_of_all(ours) - wanted
    made = _without_fields(structure, made, given_up, kept=wanted | _paths_of_all(others))
    fields = nested(wanted)
    same = ours and ours[0].get("fieldsV1") == fields
    entry = {**ours[0]} if same else application.manager.entry(fields, application.now)
    return with_entries(made, [*others, entry] if fields else others)


def _refuse_conflicts(others: Sequence[Object], touched: set[FieldPath]) -> None:
    """Refuse an apply that changes what other managers own."""
    found = [(entry, sorted(paths_of(entry) & touched)) for entry in others]
    conflicts = [(entry, paths) for entry, paths in found if paths]
    if conflicts:
        raise _conflict(conflicts)


def _paths_of_all(entries: Sequence[Object]) -> set[FieldPath]:
    return {path for entry in entries for path in paths_of(entry)}


def _without_fields(
    structure: Structure, tree: Object, paths: set[FieldPath], *, kept: set[FieldPath]
) -> Object:
    """Drop fields that nobody owns any more, inner ones after those that hold them."""
    for path in sorted(paths, key=len):
        if not any(other[: len(path)] == path for other in kept):
            tree = removed(structure, tree, path)
    return tree


def _without_managed(config: Object) -> Object:
    return {**config, "metadata": without_fields(config.get("metadata") or {}, ("managedFields",))}


def merge(structure: Structure, live: Any, config: Any) -> Any:
    """Return `live` with `config` laid over it, lists merged as their kind says."""
    if isinstance(live, dict) and isinstance(config, dict) and not structure.atomic_map:
        made = {**live}
        for name, value in config.items():
            made[name] = (
                merge(structure.child(name), live[name], value) if name in live else copied(value)
            )
        return made
    if (
        isinstance(live, list)
        and isinstance(config, list)
        and structure.list_kind is not ListKind.ATOMIC
    ):
        return _merge_list(structure, live, config)
    return live if live == config else copied(config)


def _merge_list(structure: Structure, live: list[Any], config: list[Any]) -> list[Any]:
    if structure.list_kind is ListKind.SET:
        return [*live, *(item for item in config if item not in live)]
    part = structure.item()
    asked = {key_text(structure.key_of(item)): item for item in config}
    made = []
    for item in live:
        key = key_text(structure.key_of(item))
        made.append(merge(part, item, asked.pop(key)) if key in asked else item)
    return [*made, *(copied(item) for item in asked.values())]


def removed(structure: Structure, tree: Any, path: FieldPath) -> Any:
    """Return the tree less what stands at a field path; unchanged when nothing does."""
    step, rest = path[0], path[1:]
    if isinstance(tree, dict) and step.startswith("f:") and step[2:] in tree:
        name = step[2:]
        if not rest:
            return {field: value for field, value in tree.items() if field != name}
        return {**tree, name: removed(structure.child(name), tree[name], rest)}
    if isinstance(tree, list) and step.startswith("k:"):
        part = structure.item()
        hit = [key_text(structure.key_of(item)) == step for item in tree]
        if not rest:
            return [item for item, gone in zip(tree, hit, strict=True) if not gone]
        return [
            removed(part, item, rest) if here else item
            for item, here in zip(tree, hit, strict=True)
        ]
    if isinstance(tree, list) and step.startswith("v:"):
        return [item for item in tree if value_text(item) != step]
    return tree


def _conflict(conflicts: list[tuple[Object, list[FieldPath]]]) -> ApiFailure:
    causes, sentences = [], []
    for entry, paths in conflicts:
        who = f'"{entry.get("manager")}"'
        if entry.get("subresource"):
            who += f' with subresource "{entry["subresource"]}"'
        if entry.get("operation") == "Update":
            who += f" using {entry.get('apiVersion')}" + (
                f" at {entry['time']}" if entry.get("time") else ""
            )
        else:
            who = f'"{entry.get("manager")}"' + (
                f" using {entry.get('apiVersion')}" if entry.get("apiVersion") else ""
            )
        fields = [path_text(path) for path in paths]
        causes += [
            {"reason": "FieldManagerConflict", "message": f"conflict with {who}", "field": field}
            for field in fields
        ]
        if len(fields) == 1:
            sentences.append(f"conflict with {who}: {fields[0]}")
        else:
            sentences.append(
                f"conflicts with {who}:\n" + "\n".join(f"- {field}" for field in fields)
            )
    count = len(causes)
    text = "\n".join(sentences)
    message = f"Apply failed with {count} conflict{'s' if count > 1 else ''}: {text}"
    return ApiFailure(409, "Conflict", message, causes=causes)


def path_text(path: FieldPath) -> str:
    """Return a field path as messages print it: `.spec.items[name="a"].value`."""
    text = ""
    for step in path:
        word, value = step[:2], step[2:]
        if word == "f:":
            text += f".{value}"
        elif word == "k:":
            pairs = ",".join(
                f"{name}={json.dumps(item)}" for name, item in json.loads(value).items()
            )
            text += f"[{pairs}]"
        else:
            text += f"[={value}]"
    return text
