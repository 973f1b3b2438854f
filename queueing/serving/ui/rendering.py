"""Values to HTML. Pure, but that templates are read once; everything that is put in is escaped."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from queueing.serving.ui.paths import Page
from queueing.translate.times import timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What surrounds a page."""

    path: str
    """Where it is below the page's own path, with its query."""
    visitor: str
    now: float
    may_leave: bool = False
    is_live: bool = True
    """Whether a browser may ask for changes."""

    @property
    def root(self) -> str:
        """The way back to the page's own path, wherever that is served."""
        return "../" * self.path.partition("?")[0].count("/") or "./"

    def values(self) -> Mapping[str, Any]:
        """Return the same for templates."""
        return {
            "root": self.root,
            "path": self.path,
            "visitor": self.visitor,
            "may_leave": self.may_leave,
            "is_live": self.is_live,
            "as_of": timestamp(self.now),
        }


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates."""
    return Environment(
        loader=PackageLoader("queueing.serving.ui"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def whole(page: Page, frame: Frame) -> str:
    """Return the document of a page."""
    return _rendered(page, frame, "base.html")


def inner(page: Page, frame: Frame) -> str:
    """Return just what the page's `main` holds, for who has the rest already."""
    return _rendered(page, frame, "main.html")


def _rendered(page: Page, frame: Frame, layout: str) -> str:
    template = environment().get_template(page.template)
    return template.render(title=page.title, layout=layout, **frame.values(), **page.values)
