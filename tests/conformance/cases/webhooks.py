"""Admission webhooks: called with the right review, obeyed, and survived when they are away."""

import base64
import http.server
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme
from typing_extensions import override

from queueing.testing.ports import free_ports
from tests.conformance.harness import Server, failed, gadget

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
Respond = Callable[[dict[str, Any]], dict[str, Any]]


class Hook:
    """A webhook of the case's own; `respond` turns a request into a response."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.respond: Respond = lambda _: {"allowed": True}
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        self.bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = json.loads(body)["request"]
                hook.requests.append(request)
                answer = {
                    "apiVersion": "admission.k8s.io/v1",
                    "kind": "AdmissionReview",
                    "response": {"uid": request["uid"], **hook.respond(request)},
                }
                content = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            @override
            def log_message(self, *args: Any) -> None:
                return None

        return Handler

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    yield made
    made.stop()


def install(server: Server, hook: Hook, kind: str, **more: Any) -> None:
    """Register the hook for gadgets of the case's namespace, and wait until it is called."""
    name = server.name("hook")
    rule = {
        "apiGroups": ["conformance.example.com"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE", "DELETE"],
        "resources": ["gadgets"],
    }
    entry = {
        "name": "gadgets.conformance.example.com",
        "clientConfig": {"url": hook.url, "caBundle": hook.bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"conformance": server.namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [entry],
    }
    path = f"{CONFIGURATIONS}/{kind.lower()}webhookconfigurations"
    server.made(path, body)
    server.later(f"{path}/{name}")
    respond, hook.respond = hook.respond, lambda _: {"allowed": True}

    def called() -> bool:
        server.call("POST", server.gadgets, gadget("probe"), dryRun="All")
        return bool(hook.requests)

    if "clientConfig" not in more:
        server.until(called)
    hook.respond = respond
    hook.requests.clear()


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    content = base64.b64encode(json.dumps(operations).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": content}


def test_a_mutating_webhook_changes_the_object(server: Server, hook: Hook) -> None:
    hook.respond = lambda _: patch({"op": "add", "path": "/spec/color", "value": "blue"})
    install(server, hook, "Mutating")
    assert server.gadget()["spec"] == {
        "color": "blue",
        "mode": "Plain",
        "maybe": "x",
        "filled": {"inner": "deep"},
    }


def test_what_a_webhook_makes_is_checked_against_the_schema(server: Server, hook: Hook) -> None:
    hook.respond = lambda _: patch({"op": "add", "path": "/spec/color", "value": "pink"})
    install(server, hook, "Mutating")
    failed(server.call("POST", server.gadgets, gadget()), 422, "spec.color: Unsupported value")


def test_a_review_holds_what_is_written(server: Server, hook: Hook) -> None:
    install(server, hook, "Mutating")
    server.gadget(spec={"size": 1})
    request = hook.requests[0]
    assert (request["operation"], request["name"]) == ("CREATE", "one")
    assert request["namespace"] == server.namespace
    assert request["kind"] == {
        "group": "conformance.example.com",
        "version": "v1",
        "kind": "Gadget",
    }
    assert request["resource"]["resource"] == "gadgets"
    assert request["object"]["spec"]["size"] == 1
    assert request["oldObject"] is None
    assert request["dryRun"] is False
    assert request["userInfo"]["username"]


def test_a_review_of_an_update_holds_both_states(server: Server, hook: Hook) -> None:
    server.gadget(spec={"size": 1})
    install(server, hook, "Validating")
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 2}})
    request = hook.requests[0]
    assert request["operation"] == "UPDATE"
    assert request["oldObject"]["spec"]["size"] == 1
    assert request["object"]["spec"]["size"] == 2


def test_a_review_of_a_deletion_holds_the_old_state(server: Server, hook: Hook) -> None:
    server.gadget()
    install(server, hook, "Validating")
    server.call("DELETE", f"{server.gadgets}/one")
    request = hook.requests[0]
    assert (request["operation"], request["object"]) == ("DELETE", None)
    assert request["oldObject"]["metadata"]["name"] == "one"


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_a_refusal_is_passed_on(server: Server, hook: Hook, kind: str) -> None:
    hook.respond = lambda _: {"allowed": False, "status": {"message": "not today"}}
    install(server, hook, kind)
    answer = server.call("POST", server.gadgets, gadget())
    text = 'admission webhook "gadgets.conformance.example.com" denied the request: not today'
    failed(answer, 400, text)
    assert server.call("GET", f"{server.gadgets}/one").status == 404


def test_a_refusal_may_choose_its_code(server: Server, hook: Hook) -> None:
    status = {"code": 403, "reason": "Forbidden", "message": "never"}
    hook.respond = lambda _: {"allowed": False, "status": status}
    install(server, hook, "Validating")
    answer = server.call("POST", server.gadgets, gadget())
    assert (answer.status, answer.reason) == (403, "Forbidden")


def test_a_deletion_can_be_refused(server: Server, hook: Hook) -> None:
    server.gadget()
    hook.respond = lambda _: {"allowed": False, "status": {"message": "keep it"}}
    install(server, hook, "Validating")
    failed(server.call("DELETE", f"{server.gadgets}/one"), 400, "keep it")
    assert server.call("GET", f"{server.gadgets}/one").status == 200


def test_warnings_are_passed_on(server: Server, hook: Hook) -> None:
    hook.respond = lambda _: {"allowed": True, "warnings": ["mind the gap"]}
    install(server, hook, "Validating")
    assert "mind the gap" in server.gadget().headers["Warning"]


def test_a_webhook_is_called_for_what_its_selector_matches(server: Server, hook: Hook) -> None:
    selector = {"matchExpressions": [{"key": "quiet", "operator": "DoesNotExist"}]}
    install(server, hook, "Validating", objectSelector=selector)
    server.gadget("silent", labels={"quiet": "yes"})
    server.gadget("heard")
    assert [request["name"] for request in hook.requests] == ["heard"]


def test_status_writes_are_not_the_main_resource(server: Server, hook: Hook) -> None:
    server.gadget()
    install(server, hook, "Validating")
    server.merge(f"{server.gadgets}/one/status", {"status": {"phase": "x"}})
    assert hook.requests == []


def test_a_webhook_that_is_away_may_be_ignored(server: Server, hook: Hook) -> None:
    (nobody,) = free_ports(1)
    client = {"url": f"https://127.0.0.1:{nobody}/"}
    install(server, hook, "Validating", clientConfig=client, failurePolicy="Ignore")
    assert server.gadget().status == 201


def test_a_webhook_that_is_away_refuses_the_write(server: Server, hook: Hook) -> None:
    (nobody,) = free_ports(1)
    client = {"url": f"https://127.0.0.1:{nobody}/"}
    install(server, hook, "Validating", clientConfig=client)
    path = server.gadgets

    def refused() -> Any:
        answer = server.call("POST", path, gadget("probe"), dryRun="All")
        return answer if answer.status == 500 else None

    answer = server.until(refused)
    assert 'failed calling webhook "gadgets.conformance.example.com"' in answer.message


@pytest.mark.parametrize(
    ("field", "value", "part"),
    [
        ("sideEffects", None, "sideEffects"),
        ("admissionReviewVersions", [], "admissionReviewVersions"),
        ("name", "short", "webhooks[0].name"),
    ],
)
def test_a_broken_configuration_is_refused(
    server: Server, hook: Hook, field: str, value: Any, part: str
) -> None:
    entry = {
        "name": "gadgets.conformance.example.com",
        "clientConfig": {"url": hook.url},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        field: value,
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": server.name("broken")},
        "webhooks": [{name: item for name, item in entry.items() if item is not None}],
    }
    path = f"{CONFIGURATIONS}/validatingwebhookconfigurations"
    failed(server.call("POST", path, body), 422, part)
