"""What is asked, what is answered, and what was saved."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was saved. `uri` has a scheme or is an absolute path; `size` is in bytes."""

    uri: str = ""
    step: int | None = None
    size: int | None = None

    def told(self) -> dict[str, Any]:
        """Return the parts that are known."""
        parts = {"uri": self.uri, "step": self.step, "size": self.size}
        return {name: value for name, value in parts.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A request to save."""

    request_id: str
    epoch: int
    reason: str = ""
    heartbeat_s: float = 15.0
    fresh_s: float = 0.0
    cancelled: bool = False
    """The workload stays after all."""

    @classmethod
    def read(cls, text: str | None) -> "Notice | None":
        """Read a request; None for what is none."""
        try:
            found = json.loads(text or "")
            return cls(
                request_id=str(found["requestID"]),
                epoch=int(found["epoch"]),
                reason=str(found.get("reason", "")),
                heartbeat_s=float(found.get("heartbeatSeconds", 15.0)),
                fresh_s=float(found.get("freshSeconds", 0.0)),
                cancelled=bool(found.get("cancelled", False)),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def told(self, **parts: Any) -> str:
        """Spell the request, for whoever reads files."""
        return json.dumps({"requestID": self.request_id, "epoch": self.epoch, **parts})

    def answer(self, word: str, **parts: Any) -> str:
        """Spell an answer to this request."""
        return json.dumps(
            {"requestID": self.request_id, "epoch": self.epoch, "answer": word, **parts}
        )
