"""Access control: host, origin and token, and the headers of every response."""

from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from bythebook.experiments.explore.security import HEADERS, SecurityMiddleware

from .conftest import HOST, ORIGIN, PORT, TOKEN, Answered, ask, completed

COOKIE = f"bythebook-{PORT}={TOKEN.replace(' ', '')}"
SECURED = SecurityMiddleware(PlainTextResponse("inside"), TOKEN.replace(" ", ""), PORT)


def response(method: str = "GET", query: str = "", **headers: str) -> Answered:
    sent = {"host": HOST, "cookie": COOKIE, **headers}
    return completed(ask(SECURED, method, "/", headers=sent, query=query))


def test_the_cookie_gives_access() -> None:
    answer = response()
    assert (answer.status, answer.text) == (200, "inside")
    assert answer.header("set-cookie") is None


@pytest.mark.parametrize("cookie", ["", f"bythebook-{PORT}=other", "bythebook-1=atoken", "\x00;="])
def test_access_without_the_token_is_refused(cookie: str) -> None:
    answer = response(cookie=cookie)
    assert answer.status == 403
    assert answer.text.count("\n") == 1
    assert "inside" not in answer.text


def test_the_token_in_the_address_becomes_a_cookie() -> None:
    answer = response(query="token=atoken", cookie="")
    assert answer.status == 200
    cookie = answer.header("set-cookie") or ""
    assert cookie == f"{COOKIE}; Path=/; HttpOnly; SameSite=Strict"


@pytest.mark.parametrize("query", ["token=", "token=wrong", "token=%ff", "x=1&token=wrong"])
def test_a_wrong_token_is_refused_even_with_the_cookie(query: str) -> None:
    answer = response(query=query)
    assert answer.status == 403
    assert answer.header("set-cookie") is None


@pytest.mark.parametrize("host", ["localhost", "[::1]", "127.0.0.1"])
def test_loopback_host_names_are_accepted(host: str) -> None:
    assert response(host=f"{host}:{PORT}").status == 200


@pytest.mark.parametrize(
    "host", ["", "127.0.0.1", f"evil.example:{PORT}", "127.0.0.1:80", f"127.0.0.1.evil:{PORT}"]
)
def test_another_host_is_refused(host: str) -> None:
    assert response(host=host).status == 403


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1:80", ""])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(method: str, origin: str) -> None:
    assert response(method, origin=origin).status == 403


def test_runs_must_have_an_origin() -> None:
    assert response("POST").status == 403
    assert response("POST", origin=ORIGIN).status == 200
    assert response("GET", origin=ORIGIN).status == 200


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(method: str) -> None:
    assert response(method, origin=ORIGIN).status == 405


@pytest.mark.parametrize("cookie", [COOKIE, ""])
def test_every_response_has_the_security_headers(cookie: str) -> None:
    headers = dict(response(cookie=cookie).headers)
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= headers.items()
    rules = headers["content-security-policy"]
    assert "default-src 'none'" in rules
    assert "unsafe" not in rules


def test_websockets_are_closed() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def socket() -> None:
        await SECURED({"type": "websocket", "headers": []}, None, send)  # type: ignore[arg-type]

    completed(socket())
    assert sent == ["websocket.close"]
