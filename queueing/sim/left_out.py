"""Documents of which a plan makes no use: told once per kind, however many there are of it."""

from collections.abc import Iterable

from queueing.sim.documents import Document


def told_once(left_out: Iterable[tuple[Document, str]]) -> list[str]:
    """Return a sentence per kind, from documents and what is to be said of their kind.

    It names the place of the first, and their number where there are several.
    """
    groups: dict[tuple[str, str], list[tuple[Document, str]]] = {}
    for document, said in left_out:
        groups.setdefault((document.api_version, document.kind), []).append((document, said))
    return [_sentence(*members[0], len(members)) for members in groups.values()]


def _sentence(first: Document, said: str, count: int) -> str:
    place = f"{first.file}:{first.line}: {first.kind} ({first.api_version})"
    more = f" ({count} objects, the first of them here)" if count > 1 else ""
    return f"{place} {said}{more}"
