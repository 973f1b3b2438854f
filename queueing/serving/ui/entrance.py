"""Who visits the page, and what the cluster lets them read."""

from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from queueing.serving.authorization import Reviewer, ReviewError, User
from queueing.serving.rights import Right
from queueing.serving.ui.problems import NotAllowedError, NotNowError, UnknownVisitorError

COOKIE = "queueing-page"
TOKEN_MAX = 3_800
"""Browsers drop cookies of more than 4096 bytes, with name and attributes."""
UNCLEAR = "The API server does not say who you are: {}"
SIGN_IN = "Sign in with a token of the cluster to see what it may read."


class Visitor(Protocol):
    """Somebody who looks."""

    @property
    def name(self) -> str:
        """What the cluster calls them."""

    @property
    def may_leave(self) -> bool:
        """Whether they signed in here, and so can sign out."""

    async def may(self, right: Right) -> bool:
        """Say whether they have a right. Raises NotNowError where nobody can say."""


@dataclass(frozen=True, slots=True)
class Anybody:
    """Who looks at a server on loopback that asks nobody who they are."""

    name: str = "everybody on this machine"
    may_leave: bool = False

    async def may(self, _right: Right) -> bool:
        """Say yes: the API server beside it would, too."""
        return True


@dataclass(frozen=True, slots=True)
class KnownUser:
    """A user whom the cluster knows."""

    user: User
    reviewer: Reviewer = field(repr=False)
    may_leave: bool = False

    @property
    def name(self) -> str:
        """What the cluster calls them."""
        return self.user.name

    async def may(self, right: Right) -> bool:
        """Ask the API server."""
        try:
            return await self.reviewer.is_allowed(self.user, right)
        except ReviewError as error:
            raise NotNowError(f"The API server does not say what you may read: {error}") from error


async def demand(visitor: Visitor, *rights: Right) -> None:
    """Raise NotAllowedError where a visitor lacks one of some rights."""
    for right in rights:
        if not await visitor.may(right):
            raise NotAllowedError(
                f"The cluster does not let {visitor.name} {right.text}. The roles "
                "kueue-batch-user-role and kueue-batch-admin-role allow what pages show."
            )


class Entrance(Protocol):
    """Finds out who visits."""

    @property
    def takes_tokens(self) -> bool:
        """Whether visitors may sign in by a form."""

    async def visitor(self, request: web.Request) -> Visitor:
        """Return who visits. Raises UnknownVisitorError, NotNowError."""

    async def accepts(self, token: str) -> bool:
        """Say whether a token is one of the cluster. Raises NotNowError."""


@dataclass(frozen=True, slots=True)
class OpenEntrance:
    """Lets everybody in."""

    takes_tokens: bool = False

    async def visitor(self, _request: web.Request) -> Visitor:
        """Return anybody."""
        return Anybody()

    async def accepts(self, _token: str) -> bool:
        """Say no: nobody signs in here."""
        return False


@dataclass(frozen=True, slots=True)
class ReviewedEntrance:
    """Has the API server say who somebody is: by a header, the aggregator's word, or a cookie."""

    reviewer: Reviewer
    takes_tokens: bool = True

    async def visitor(self, request: web.Request) -> Visitor:
        """Return who visits."""
        cookie = request.cookies.get(COOKIE, "") if self.takes_tokens else ""
        try:
            user = await self.reviewer.user_of(request)
        except ReviewError as error:
            raise NotNowError(UNCLEAR.format(error)) from error
        if user is not None:
            return KnownUser(user, self.reviewer)
        user = await self._owner(cookie) if cookie else None
        if user is None:
            told = "The token is not valid any more. " if cookie else ""
            raise UnknownVisitorError(told + SIGN_IN)
        return KnownUser(user, self.reviewer, may_leave=True)

    async def accepts(self, token: str) -> bool:
        """Ask the API server whose token it is."""
        return await self._owner(token) is not None

    async def _owner(self, token: str) -> User | None:
        try:
            return await self.reviewer.user_with(token)
        except ReviewError as error:
            raise NotNowError(UNCLEAR.format(error)) from error
