"""The server: a loopback socket, a token, and an end that leaves no process behind."""

import asyncio
import secrets
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from experiments.contract.errors import BadInput
from experiments.explore.app import Site, guarded
from experiments.explore.guard import TOKEN

HOSTS = ("127.0.0.1", "localhost", "::1")


def listening(host: str, port: int) -> socket.socket:
    """A socket on this machine's loopback; port 0 is any free one."""
    if host not in HOSTS:
        raise BadInput(f"--host {host} is not allowed; allowed: {', '.join(HOSTS)} (loopback only)")
    if not 0 <= port < 65536:
        raise BadInput(f"--port {port} is not allowed; allowed: 0 (any free one) to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(64)
    except OSError as error:
        made.close()
        reason = error.strerror or error
        raise BadInput(f"cannot listen on {host}, port {port}: {reason}") from error
    return made


def serve(site: Site, made: socket.socket, ready: Callable[[str, str], None]) -> None:
    """Serve until interrupted; `ready` is told the server's address and its token."""
    host, port = made.getsockname()[:2]
    token = secrets.token_urlsafe(24)
    config = uvicorn.Config(
        guarded(site, token, port),
        log_level="error",
        access_log=False,  # it would hold the token
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=3,
    )
    ready(f"http://{f'[{host}]' if ':' in host else host}:{port}", token)
    _Server(config, site).run(sockets=[made])


def with_token(address: str, token: str) -> str:
    """The address to open: once it has been, a cookie holds the token."""
    return f"{address}?{TOKEN}={token}"


class _Server(uvicorn.Server):
    """One that does not wait for runs: asked to stop, it stops them."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self.site = site
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.site.workers.close)
        super().handle_exit(sig, frame)
