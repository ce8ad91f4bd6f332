"""The server process: its loopback socket, its token, and its shutdown with all workers."""

import asyncio
import secrets
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn

from bythebook.experiments.core.errors import InputError
from bythebook.experiments.explore.app import ExploreConfig, secured_app
from bythebook.experiments.explore.security import TOKEN

HOSTS = ("127.0.0.1", "localhost", "::1")


def bind_socket(host: str, port: int) -> socket.socket:
    """A listening socket on a loopback address; port 0 takes any free port."""
    if host not in HOSTS:
        raise InputError(
            f"--host {host} is not allowed; allowed: {', '.join(HOSTS)} (loopback only)"
        )
    if not 0 <= port < 65536:
        raise InputError(f"--port {port} is not allowed; allowed: 0 (any free port) to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        reason = error.strerror or error
        raise InputError(f"cannot listen on {host}, port {port}: {reason}") from error
    return listener


def serve(
    config: ExploreConfig, listener: socket.socket, ready: Callable[[str, str], None]
) -> None:
    """Serve until interrupted; `ready` receives the server's address and its token."""
    host, port = listener.getsockname()[:2]
    token = secrets.token_urlsafe(24)
    settings = uvicorn.Config(
        secured_app(config, token, port),
        log_level="error",
        access_log=False,  # the log would contain the token
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=3,
    )
    ready(f"http://{f'[{host}]' if ':' in host else host}:{port}", token)
    _Server(settings, config.workers.close).run(sockets=[listener])


def url_with_token(address: str, token: str) -> str:
    """The address to open first; after that, a cookie carries the token."""
    return f"{address}?{TOKEN}={token}"


class _Server(uvicorn.Server):
    """A server that stops running studies when it is asked to stop, instead of waiting."""

    def __init__(self, config: uvicorn.Config, stop_workers: Callable[[], None]) -> None:
        super().__init__(config)
        self.stop_workers = stop_workers
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.stop_workers)
        super().handle_exit(sig, frame)
