"""Authentication for the tracking server, in front of MLflow's.

After a wrong password the next attempt must wait; the wait doubles each time, and earlier attempts
are refused at once. A password that was correct before passes immediately, and MLflow checks it
again.
"""

import asyncio
import base64
import binascii
import hmac
import ipaddress
import logging
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Check = Callable[[str, str], bool]

_log = logging.getLogger(__name__)
LONGEST = 30.0  # seconds of a pause
REMEMBERED = 10_000  # users, addresses and right passwords, each
LARGEST = 1024  # bytes of a header with a name and a password
AT_ONCE = 2  # threads that check passwords
HEADER = b"authorization"
# MLflow takes credentials from a second header for its gateway to language models.
CREDENTIALS = (HEADER, b"x-mlflow-authorization")


class Few:
    """A thread-safe set of bounded size that drops the least recently used entry."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self.most = most
        self._held: OrderedDict[bytes, None] = OrderedDict()
        self._key = secrets.token_bytes(32)  # what is held is of no use elsewhere
        self._lock = threading.Lock()

    def digest(self, *parts: str) -> bytes:
        text = "\0".join(f"{len(part)}:{part}" for part in parts)
        return hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), "sha256")

    def __contains__(self, digest: bytes) -> bool:
        with self._lock:
            if digest not in self._held:
                return False
            self._held.move_to_end(digest)
            return True

    def add(self, digest: bytes) -> None:
        with self._lock:
            self._held[digest] = None
            while len(self._held) > self.most:
                self._held.popitem(last=False)

    def discard(self, digest: bytes) -> None:
        with self._lock:
            self._held.pop(digest, None)


def remembering(check: Check) -> Check:
    """Cache the correct pairs of a slow check of a hash and a password.

    The cache depends on the hash in the store, so a changed password is wrong at once in every
    process.
    """
    right = Few()

    def checked(stored: str, password: str) -> bool:
        digest = right.digest(stored, password)
        if digest in right:
            return True
        if not check(stored, password):
            return False
        right.add(digest)
        return True

    return checked


class _Count(NamedTuple):
    """The number of wrong passwords of a name, the time of the last, and the end of the wait."""

    level: float = 0.0
    at: float = 0.0
    until: float = 0.0


@dataclass
class _Counts:
    """The counts of users, or of addresses."""

    free: int  # wrong passwords before the first pause
    forgiven: float  # seconds after which one wrong password less counts
    most: int  # names that are remembered
    held: OrderedDict[str, _Count] = field(default_factory=OrderedDict)

    def level(self, name: str, now: float) -> float:
        count = self.held.get(name, _Count())
        return max(0.0, count.level - (now - count.at) / self.forgiven)

    def left(self, name: str, now: float) -> float:
        return max(0.0, self.held.get(name, _Count()).until - now)

    def add(self, name: str, now: float) -> None:
        most = self.free + 1.0 + math.ceil(math.log2(LONGEST))  # a longer pause there is not
        level = min(self.level(name, now) + 1.0, most)
        over = math.ceil(level) - self.free
        pause = min(LONGEST, 2.0 ** (over - 1)) if over > 0 else 0.0
        self.held[name] = _Count(level, now, now + pause)
        self.held.move_to_end(name)
        while len(self.held) > self.most:
            self.held.popitem(last=False)

    def take_back(self, name: str, now: float) -> None:
        if name in self.held:
            level = max(0.0, self.level(name, now) - 1.0)
            until = self.held[name].until if level > self.free else 0.0
            self.held[name] = _Count(level, now, until)


class Pauses:
    """The wait before a login attempt, by user name and by client address.

    An address without recent wrong passwords need not wait, even while other addresses try the same
    user name: no user can lock another one out. Attempts for one name do not delay the other users
    of the address; attempts for many names do.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = REMEMBERED) -> None:
        self.clock = clock
        self.users = _Counts(free=5, forgiven=60.0, most=most)
        self.addresses = _Counts(free=20, forgiven=15.0, most=most)
        self.blamed = _Counts(free=0, forgiven=600.0, most=most)  # addresses too, for longer

    def wait(self, user: str, address: str) -> float:
        """Seconds until a password may be tried."""
        now, place = self.clock(), neighbourhood(address)
        if self.addresses.level(place, now) == self.blamed.level(place, now) == 0.0:
            return 0.0
        return max(self.addresses.left(place, now), self.users.left(user, now))

    def begin(self, user: str, address: str) -> None:
        """Record an attempt; it counts as wrong until the password has been checked."""
        now = self.clock()
        self.users.add(user, now)
        self.addresses.add(neighbourhood(address), now)

    def wrong(self, address: str) -> None:
        """Record a wrong password."""
        self.blamed.add(neighbourhood(address), self.clock())

    def take_back(self, user: str, address: str) -> None:
        """Undo an attempt: the password was correct or could not be checked."""
        now = self.clock()
        self.users.take_back(user, now)
        self.addresses.take_back(neighbourhood(address), now)


def neighbourhood(address: str) -> str:
    """An address, or all those that one machine may choose from."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


class Credentials(NamedTuple):
    """A name and a password."""

    user: str
    password: str

    @classmethod
    def of(cls, scope: Scope) -> "Credentials | None":
        """Those of a request: one header, of the basic kind, well formed."""
        given = [value for name, value in scope["headers"] if name.lower() == HEADER]
        if len(given) != 1 or len(given[0]) > LARGEST:
            return None
        kind, _, encoded = given[0].strip().partition(b" ")
        if kind.lower() != b"basic":
            return None
        try:
            text = base64.b64decode(encoded.strip(), validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            return None
        user, colon, password = text.partition(":")
        return cls(user, password) if colon and "\0" not in text else None

    def header(self) -> tuple[bytes, bytes]:
        return HEADER, b"Basic " + base64.b64encode(f"{self.user}:{self.password}".encode())


class Door:
    """An application whose requests carry a correct password or none."""

    def __init__(self, inner: Application, check: Check, pauses: Pauses | None = None) -> None:
        self.inner, self.check, self.pauses = inner, check, pauses or Pauses()
        self._right = Few()
        self._under_way: dict[bytes, asyncio.Future[bool]] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "passwords")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:  # nothing here speaks in sockets
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Credentials.of(scope)
        headers = [pair for pair in scope["headers"] if pair[0].lower() not in CREDENTIALS]
        if given is None:  # MLflow knows what it serves to everybody
            await self.inner({**scope, "headers": headers}, receive, send)
            return
        digest = self._right.digest(*given)
        if digest not in self._right:
            address = (scope.get("client") or ("", 0))[0]
            refusal = await self._refusal(given, digest, address)
            if refusal is not None:
                await _send_text(send, *refusal)
                return

        async def noticing(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 401:
                self._right.discard(digest)  # it is right no more
            await send(message)

        await self.inner({**scope, "headers": [*headers, given.header()]}, receive, noticing)

    async def _refusal(
        self, given: Credentials, digest: bytes, address: str
    ) -> tuple[int, str, dict[str, str]] | None:
        if digest not in self._under_way:  # simultaneous requests with one password are one attempt
            wait = self.pauses.wait(given.user, address)
            if wait > 0:
                seconds = str(math.ceil(wait))
                line = f"too many wrong passwords; retry in {seconds} s"
                return 429, line, {"Retry-After": seconds}
            self.pauses.begin(given.user, address)
            self._under_way[digest] = asyncio.ensure_future(self._checked(given, digest, address))
        try:
            right = await asyncio.shield(self._under_way[digest])
        except Exception as error:
            _log.error("could not check a password: %s", " ".join(str(error).split()))
            return 503, "authentication is unavailable", {"Retry-After": "5"}
        if right:
            return None
        return 401, "invalid username or password", {"WWW-Authenticate": 'Basic realm="mlflow"'}

    async def _checked(self, given: Credentials, digest: bytes, address: str) -> bool:
        loop = asyncio.get_running_loop()
        right = None
        try:
            right = await loop.run_in_executor(self._threads, self.check, *given)
        finally:
            del self._under_way[digest]
            if right is not False:
                self.pauses.take_back(given.user, address)
        if right:
            self._right.add(digest)
        else:
            self.pauses.wrong(address)
        return right


async def _send_text(send: Send, status: int, line: str, more: dict[str, str]) -> None:
    headers = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", **more}
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": f"{line}\n".encode()})
