"""Who may ask: this machine's own browser, with the token of this start, from our own pages."""

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


class Guard:
    """The outermost layer: nothing inside is asked unless host, origin and token are right."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in NAMES}
        self.cookie = f"bythebook-{port}"  # cookies know no ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks in sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        given = _parameter(scope)
        refusal = self._refusal(scope["method"], Headers(scope=scope), given)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if refusal is None and given is not None:
                    headers.append("Set-Cookie", self._made())
            await send(message)

        inner = self.app if refusal is None else refusal
        await inner(scope, receive, answer)

    def _refusal(
        self, method: str, headers: Headers, given: str | None
    ) -> PlainTextResponse | None:
        origins = {f"http://{host}" for host in self.hosts}
        origin = headers.get("origin")
        if headers.get("host", "").lower() not in self.hosts:
            return _told(403, "this server answers to its own loopback address only")
        if method not in METHODS:
            return _told(405, "allowed: GET, POST")
        if (origin not in origins) if method == "POST" else (origin not in {None, *origins}):
            return _told(403, "asked from another origin")
        if not self._known(given if given is not None else self._held(headers)):
            return _told(403, "open the address that `bythebook explore` printed: its token opens")
        return None

    def _known(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def _held(self, headers: Headers) -> str:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return ""
        return found.value if found is not None else ""

    def _made(self) -> str:
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _parameter(scope: Scope) -> str | None:
    """The token in the address, if there is one."""
    query: str = scope.get("query_string", b"").decode("ascii", "replace")
    if not re.search(rf"(^|&){TOKEN}=", query):
        return None
    return parse_qs(query, keep_blank_values=True)[TOKEN][0]


def _told(status: int, line: str) -> PlainTextResponse:
    return PlainTextResponse(f"{line}\n", status)
