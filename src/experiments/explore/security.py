"""Access control of the `explore` server.

A request must use a loopback host name, carry the token of this server process, and come from one
of the server's own pages.
"""

import hmac
import re
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN = "token"  # noqa: S105  the parameter's name
NAMES = ("127.0.0.1", "localhost", "[::1]")
METHODS = ("GET", "POST")
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src data:; connect-src 'self'; form-action 'none'; base-uri 'none';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class SecurityMiddleware:
    """Refuses requests with a wrong host, method, origin or token before the application runs."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in NAMES}
        self.cookie = f"bythebook-{port}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # the application has no websockets
            await send({"type": "websocket.close", "code": 1008})
            return
        address_token = _parameter(scope)
        refusal = self._refusal(scope["method"], Headers(scope=scope), address_token)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if refusal is None and address_token is not None:
                    headers.append("Set-Cookie", self._set_cookie())
            await send(message)

        inner = self.app if refusal is None else refusal
        await inner(scope, receive, answer)

    def _refusal(
        self, method: str, headers: Headers, address_token: str | None
    ) -> PlainTextResponse | None:
        origins = {f"http://{host}" for host in self.hosts}
        origin = headers.get("origin")
        if headers.get("host", "").lower() not in self.hosts:
            return _refuse(403, "invalid Host header; use the loopback address of this server")
        if method not in METHODS:
            return _refuse(405, "allowed methods: GET, POST")
        if (origin not in origins) if method == "POST" else (origin not in {None, *origins}):
            return _refuse(403, "cross-origin request refused")
        token = address_token if address_token is not None else self._cookie_token(headers)
        if not self._is_valid(token):
            return _refuse(
                403, "invalid or missing token; open the URL printed by `bythebook explore`"
            )
        return None

    def _is_valid(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def _cookie_token(self, headers: Headers) -> str:
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return morsel.value if morsel is not None else ""

    def _set_cookie(self) -> str:
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _parameter(scope: Scope) -> str | None:
    """The token in the address, if there is one."""
    query: str = scope.get("query_string", b"").decode("ascii", "replace")
    if not re.search(rf"(^|&){TOKEN}=", query):
        return None
    return parse_qs(query, keep_blank_values=True)[TOKEN][0]


def _refuse(status: int, line: str) -> PlainTextResponse:
    return PlainTextResponse(f"{line}\n", status)
