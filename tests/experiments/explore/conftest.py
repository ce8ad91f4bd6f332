"""Asking an application as a server would, without one."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from experiments.configuration.jobs import Job
from experiments.explore.app import Site
from experiments.explore.workers import Workers

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
    """What it comes to, in a thread of its own: a browser's tests have a loop in the main one."""
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
    """One request; `leave` is an event at which the asker goes away."""
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
    """JSON to the application inside its guard."""
    headers = {"content-type": "application/json"}
    return await ask(app, "POST", path, headers=headers, body=json.dumps(content).encode(), **more)


def keep(job: Job) -> dict[str, Any]:
    """In place of a record."""
    return {"id": job.key, "computed": True, "failed": None, "told": []}


@pytest.fixture
def site(outputs: Path) -> Callable[..., Site]:
    """A site of a few results; made where an event loop runs."""

    def made(*names: str, **more: Any) -> Site:
        chosen = names or ("fcml/fig-1.15", "fcml/ex-2.4")
        return Site(chosen, outputs, keep, workers=Workers(2), **more)

    return made
