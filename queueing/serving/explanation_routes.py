"""The HTTP of explanations: the leader answers, and each replica leaves out names of others."""

from collections.abc import Callable

import msgspec
from aiohttp import web
from msgspec.structs import replace

from queueing.explain.model import ANSWERS, WorkloadExplanation
from queueing.explain.redaction import redacted
from queueing.kube.resources import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from queueing.serving.answering import Allowed, Elsewhere, Handler, document, failure
from queueing.serving.authorization import ReviewError
from queueing.serving.explanations import (
    GROUP,
    PARENTS,
    SUBRESOURCE,
    VERSION,
    group_document,
    resource_list,
    subject_of,
)
from queueing.serving.frames import FLAVORS
from queueing.serving.read_models import NoAnswerError, ReadModels
from queueing.serving.visibility import QueryError
from queueing.translate.page_links import workload_page

RESOURCES = {"clusterqueues": CLUSTER_QUEUES, "localqueues": LOCAL_QUEUES, "workloads": WORKLOADS}


def add_explanations(
    router: web.UrlDispatcher,
    models: ReadModels,
    guarded: Callable[[Handler], Handler],
    elsewhere: Elsewhere,
    may_name_others: Allowed,
) -> None:
    """Add the routes. Who may not name others gets answers without workloads of other namespaces.

    Workloads are told with their address on the page.
    A queue or workload that is there, but that the controller does not know yet, is 503.
    """

    async def explain(request: web.Request) -> web.StreamResponse:
        parts = request.match_info
        plural, name = parts["plural"], parts["name"]
        namespace = parts.get("namespace", "")
        try:
            subject = subject_of(plural, namespace, name, request.query)
        except QueryError as error:
            return failure(400, "BadRequest", str(error))
        try:
            found = await models.explanation(subject)
        except NoAnswerError as error:
            return failure(503, "ServiceUnavailable", str(error))
        if found is not None:
            return document(found)
        if plural in RESOURCES and await elsewhere.exists(RESOURCES[plural].at(name, namespace)):
            return failure(503, "ServiceUnavailable", f"{name} is not known yet")
        singular = plural.removesuffix("s")
        return failure(404, "NotFound", f'{singular}.{GROUP} "{name}" not found')

    def discreet(handler: Handler) -> Handler:
        async def answer(request: web.Request) -> web.StreamResponse:
            told = await handler(request)
            plural = request.match_info["plural"]
            namespace = request.match_info.get("namespace", "")
            names_workloads = bool(namespace) or plural == FLAVORS
            if not names_workloads or told.status != web.HTTPOk.status_code:
                return told
            try:
                names_others = await may_name_others(request)
            except ReviewError as error:
                return failure(500, "InternalError", f"Internal error occurred: {error}")
            if names_others and plural != "workloads":
                return told
            body = told.body if isinstance(told, web.Response) else None
            try:
                known = ANSWERS.decode(body if isinstance(body, bytes) else b"")
            except msgspec.DecodeError:  # the leader may be of another version
                unread = "the leader's answer cannot be read here; ask again"
                return told if names_others else failure(503, "ServiceUnavailable", unread)
            if not names_others:
                known = redacted(known, namespace)
            if isinstance(known, WorkloadExplanation):
                known = replace(known, page=workload_page(elsewhere.page, namespace, known.name))
            return document(known)

        return answer

    base = f"/apis/{GROUP}/{VERSION}"
    router.add_get(f"/apis/{GROUP}", _group)
    router.add_get(base, _resources)
    for plural, _, namespaced in PARENTS:
        within = "/namespaces/{namespace}" if namespaced else ""
        path = f"{base}{within}/{{plural:{plural}}}/{{name}}/{SUBRESOURCE}"
        router.add_get(path, discreet(guarded(explain)))


async def _group(_request: web.Request) -> web.StreamResponse:
    return document(group_document())


async def _resources(_request: web.Request) -> web.StreamResponse:
    return document(resource_list())
