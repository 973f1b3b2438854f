"""The table of what is refused and why, asked of a real API server.

What was is made; what would be is only tried, so that rows do not see each other. A row that
changes spec and status takes two writes, as it would of anybody: the status first.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from e2e.api import MERGE, Api
from e2e.kinds import KINDS
from e2e.wire import ApiError, Object
from tests.webhooks.table import Row, merge_patch

TRIED: Mapping[str, str] = {"dryRun": "All"}
REFUSED = frozenset({400, 403, 422})
WITH_DEFAULT_QUEUE = "beside-a-default-queue"
IN_FORCE_S = 60.0
"""A new policy is in force within 8 s, on a quiet machine."""
AGAIN_S = 0.5
BEFORE_MESSAGE = {
    "ValidatingAdmissionPolicy": "policy",
    "admission webhook": "webhook",
}


class BrokenRowError(Exception):
    """A row whose object could not be made as it was: a mistake in the table."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a row: accepted, or refused by whom and in which words."""

    by: str = ""
    """`schema`, `policy` or `webhook`; `table` for a broken row; empty when accepted."""
    message: str = ""
    code: int = 0
    reason: str = ""


@dataclass(slots=True)
class Asker:
    """Asks one API server about rows, each under a name of its own."""

    api: Api
    _numbers: Iterator[int] = field(default_factory=count)

    def all(self, rows: Sequence[Row]) -> dict[str, Verdict]:
        """Ask about every row; what is to be refused first, until all of it is or time is up."""
        verdicts: dict[str, Verdict] = {}
        left = [row for row in rows if row.says]
        deadline = time.monotonic() + IN_FORCE_S
        while left and time.monotonic() < deadline:
            verdicts |= {row.id: self.about(row) for row in left}
            left = [row for row in left if not verdicts[row.id].by]
            time.sleep(AGAIN_S if left else 0)
        return verdicts | {row.id: self.about(row) for row in rows if not row.says}

    def about(self, row: Row) -> Verdict:
        """Ask about one row."""
        place = {"name": f"row-{next(self._numbers)}"}
        if KINDS[row.kind].namespaced:
            place["namespace"] = WITH_DEFAULT_QUEUE if "default_queue" in row.around else "default"
        new = _placed(row.new, place)
        try:
            if row.old is None:
                self._write("POST", new, body=new, query=TRIED)
            else:
                self._change(_placed(row.old, place), new)
        except BrokenRowError as error:
            return Verdict("table", str(error))
        except ApiError as error:
            if error.status not in REFUSED:
                raise
            by = (name for lead, name in BEFORE_MESSAGE.items() if lead in error.message)
            return Verdict(next(by, "schema"), error.message, error.status, error.reason)
        return Verdict()

    def _change(self, old: Object, new: Object) -> None:
        self._make(old)
        status = merge_patch({"status": old.get("status")}, {"status": new.get("status")})
        rest = merge_patch({**old, "status": None}, {**new, "status": None})
        if status:
            query = {} if rest else TRIED
            self._write("PATCH", new, subresource="status", body=status, query=query)
        if rest or not status:
            self._write("PATCH", new, body=rest, query=TRIED)

    def _make(self, item: Object) -> None:
        """Make the object as it was."""
        status = item.get("status")
        try:
            self._write("POST", item, body={**item, "status": None})
            if status:
                self._write("PATCH", item, subresource="status", body={"status": status})
        except ApiError as error:
            raise BrokenRowError(f"what was is refused: {error.message}") from error

    def _write(
        self,
        verb: str,
        item: Object,
        *,
        body: Object,
        subresource: str = "",
        query: Mapping[str, str] | None = None,
    ) -> None:
        metadata = item["metadata"]
        name = None if verb == "POST" else metadata["name"]
        path = KINDS[item["kind"]].path(metadata.get("namespace"), name, subresource)
        content_type = MERGE if verb == "PATCH" else "application/json"
        self.api.wire.call(verb, path, query=query, body=body, content_type=content_type)


def _placed(item: Object, place: Mapping[str, str]) -> Object:
    return {**item, "metadata": {**item["metadata"], **place}}
