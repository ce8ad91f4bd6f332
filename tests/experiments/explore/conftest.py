"""Requests to the application without a server."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bythebook.experiments.config.job import Job
from bythebook.experiments.explore.app import ExploreConfig
from bythebook.experiments.explore.worker_pool import WorkerPool

T = TypeVar("T")
PORT, TOKEN = 4321, "a token"
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


@dataclass
class Answered:
    """A response."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name)


def completed(work: Coroutine[Any, Any, T]) -> T:
    """The value of a coroutine, run in a thread: browser tests have a loop in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def ask(
    app: Any,
    method: str,
    path: str,
    *,
    headers: dict[str, str] | None = None,
    body: bytes = b"",
    query: str = "",
    leave: Any = None,
) -> Answered:
    """Send one request; `leave` is an event at which the client disconnects."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()],
        "server": ("127.0.0.1", PORT),
        "client": ("127.0.0.1", 1),
    }
    sent = False
    answered = Answered()

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        if leave is None:
            await asyncio.Event().wait()
        await leave.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answered.status = message["status"]
            answered.headers = [(k.decode(), v.decode()) for k, v in message["headers"]]
        else:
            answered.body += message.get("body", b"")

    await app(scope, receive, send)
    return answered


async def post(app: Any, path: str, content: Any, **more: Any) -> Answered:
    """Send JSON to the application."""
    headers = {"content-type": "application/json"}
    return await ask(app, "POST", path, headers=headers, body=json.dumps(content).encode(), **more)


@pytest.fixture(autouse=True)
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the checkout: workers do not import from the working directory, but need `tests`."""
    monkeypatch.chdir(tmp_path)


def save(job: Job) -> dict[str, Any]:
    """A response without a record."""
    return {"id": job.key, "computed": True, "failed": None, "messages": []}


@pytest.fixture
def site(outputs: Path) -> Callable[..., ExploreConfig]:
    """A factory of configurations with two results; it must be called inside an event loop."""

    def make(*names: str, **more: Any) -> ExploreConfig:
        chosen = names or ("fcml/fig-1.15", "fcml/ex-2.4")
        return ExploreConfig(chosen, outputs, save, workers=WorkerPool(2), **more)

    return make
