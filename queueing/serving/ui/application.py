"""The HTTP of the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from aiohttp import web

from queueing.serving.answering import Handler
from queueing.serving.ui.entrance import (
    COOKIE,
    SIGN_IN,
    TOKEN_MAX,
    Entrance,
    Visitor,
)
from queueing.serving.ui.headers import SAFE
from queueing.serving.ui.live import Shown, Streams
from queueing.serving.ui.paths import Page, Visit
from queueing.serving.ui.problems import NotThereError, PageError, UnknownVisitorError
from queueing.serving.ui.quota_views import found_at
from queueing.serving.ui.rendering import Frame, inner, whole
from queueing.serving.ui.sources import Sources
from queueing.serving.ui.views import PATHS
from queueing.translate.times import timestamp

ASSETS: Final = MappingProxyType(
    {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
)
BASE: Final = "/ui"
"""Where the page is served on a port of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageServer:
    """Serves the page below some path: just reading, but for signing in and out."""

    sources: Sources
    entrance: Entrance
    now: Callable[[], float]
    base: str = BASE
    """The path below which it is served."""
    streams: Streams = field(default_factory=Streams)

    def add_to(self, application: web.Application) -> None:
        """Add the page's routes, and end what is open with the application."""
        router, base = application.router, self.base
        router.add_get(base, self._with_slash)
        router.add_get(f"{base}/static/{{file}}", asset)
        router.add_get(f"{base}/find", self._guarded(self._find))
        if self.entrance.takes_tokens:
            router.add_get(f"{base}/login", self._guarded(self._form))
            router.add_post(f"{base}/login", self._guarded(self._sign_in))
            router.add_post(f"{base}/logout", self._sign_out)
        router.add_get(f"{base}/{{path:.*}}", self._guarded(self._show))
        application.on_shutdown.append(self._end)

    async def _end(self, _application: web.Application) -> None:
        self.streams.end()

    async def _with_slash(self, _request: web.Request) -> web.StreamResponse:
        # Relative, as who hands this on may do so below a path of their own.
        raise web.HTTPPermanentRedirect(f"{self.base.rpartition('/')[2]}/")

    async def _show(self, request: web.Request) -> web.StreamResponse:
        path = self._below(request)
        if not path and request.query.get("watch"):
            return await self._follow(request, request.query.get("of", ""))
        visitor = await self.entrance.visitor(request)
        query = request.rel_url.raw_query_string
        page = await self._page(visitor, path, request.query)
        full = f"{path}?{query}" if query else path
        return _html(whole(page, self._frame(full, visitor)))

    async def _follow(self, request: web.Request, of: str) -> web.StreamResponse:
        """Send changes of the page at a path; who visits, and what they may, is asked each time."""
        path, _, query = of.partition("?")
        parsed = request.rel_url.with_path("/").with_query(query).query

        async def make() -> Shown:
            visitor = await self.entrance.visitor(request)
            page = await self._page(visitor, path, parsed)
            main = inner(page, self._frame(of, visitor))
            return Shown(main, timestamp(self.now()), page.every_s)

        visitor = await self.entrance.visitor(request)
        return await self.streams.send(request, visitor.name, make)

    async def _page(self, visitor: Visitor, path: str, query: Mapping[str, str]) -> Page:
        view, names = PATHS.find(path)
        asked = Visit(
            sources=self.sources, visitor=visitor, now=self.now(), names=names, query=query
        )
        try:
            return await view(asked)
        except ExceptionGroup as group:
            found = group.subgroup(PageError)
            if found is None:
                raise
            raise _first(found) from group

    def _below(self, request: web.Request) -> str:
        return request.rel_url.raw_path.removeprefix(f"{self.base}/")

    def _frame(self, path: str, visitor: Visitor) -> Frame:
        return Frame(path=path, visitor=visitor.name, now=self.now(), may_leave=visitor.may_leave)

    async def _find(self, request: web.Request) -> web.StreamResponse:
        return _see_other(found_at(request.query.get("q", "")))

    async def _form(self, _request: web.Request) -> web.StreamResponse:
        raise UnknownVisitorError(SIGN_IN)

    async def _sign_in(self, request: web.Request) -> web.StreamResponse:
        """Keep a token as a cookie, if it is one of the cluster; nobody is told why it is not."""
        _demand_same_origin(request)
        form = await request.post()
        token, wanted = str(form.get("token", "")).strip(), str(form.get("of", ""))
        if len(token) > TOKEN_MAX:
            raise UnknownVisitorError(
                "The token is too long for a browser to keep: use `queueing ui`, which signs in "
                "with your kubeconfig."
            )
        reviewed = await self.entrance.accepts(token) if token else False
        if not reviewed:
            raise UnknownVisitorError("The cluster does not know this token.")
        answer = _see_other(_known(wanted) or "./")
        answer.set_cookie(
            COOKIE,
            token,
            path=f"{self.base}/",
            httponly=True,
            secure=request.secure,
            samesite="Strict",
        )
        return answer

    async def _sign_out(self, request: web.Request) -> web.StreamResponse:
        answer = _see_other("./login")
        answer.del_cookie(
            COOKIE,
            path=f"{self.base}/",
            httponly=True,
            secure=request.secure,
            samesite="Strict",
        )
        return answer

    def _guarded(self, handler: Handler) -> Handler:
        """Turn what is wrong into a page that says so."""

        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                return await handler(request)
            except PageError as error:
                return self._problem(request, error)

        return answer

    def _problem(self, request: web.Request, error: PageError) -> web.Response:
        path = self._below(request)
        is_login = isinstance(error, UnknownVisitorError) and self.entrance.takes_tokens
        page = Page(
            title=error.title,
            template="login.html" if is_login else "problem.html",
            values={"text": str(error), "of": _known(path)},
        )
        frame = Frame(path=path, visitor="", now=self.now(), is_live=False)
        answer = _html(whole(page, frame), error.status)
        if error.status == web.HTTPServiceUnavailable.status_code:
            answer.headers["Retry-After"] = "2"
        return answer


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


def _known(path: str) -> str:
    """Return a path if there is a page at it, so that nobody is sent elsewhere."""
    try:
        PATHS.find(path.partition("?")[0])
    except NotThereError:
        return ""
    return path


def _demand_same_origin(request: web.Request) -> None:
    """Refuse a form that another site's page sent."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        raise UnknownVisitorError("Sign in from this page.")


def _html(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", headers=SAFE)


def _see_other(where: str) -> web.Response:
    return web.Response(status=303, headers={**SAFE, "Location": where})


async def asset(request: web.Request) -> web.StreamResponse:
    """Return a style, script or picture of the page."""
    name = request.match_info["file"]
    kind = ASSETS.get(name)
    if kind is None:
        return web.Response(status=404, text="not found\n")
    body = (files("queueing.serving.ui") / "static" / name).read_bytes()
    headers = {**SAFE, "Cache-Control": "private, max-age=300"}
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)
