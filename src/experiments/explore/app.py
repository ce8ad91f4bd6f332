"""The pages and what they ask: a list of results, a result with its knobs, runs as JSON."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from experiments.contract.errors import BadInput, one_line
from experiments.explore import pages, trials
from experiments.explore.guard import TOKEN, Guard
from experiments.explore.trials import Answer, Asked, Keep
from experiments.explore.workers import Stopped, Workers

BODY = 64 * 1024  # bytes of a request
TAB = 64  # characters of a tab's name
REMEMBERED = 48 * 2**20  # bytes of answers
SLACK = 10.0  # seconds for a process to start, and to notice its own limit
KEEPING = 300.0  # more of them for a record's figures, and for a new tracking store
STATIC = {
    "style.css": Path(pages.REPORT) / "static" / "style.css",
    "explore.css": Path(pages.HERE) / "static" / "explore.css",
    "explore.js": Path(pages.HERE) / "static" / "explore.js",
    "list.js": Path(pages.HERE) / "static" / "list.js",
}


@dataclass
class Site:
    """What the pages show, and how a run of it is made."""

    names: Sequence[str]
    outputs: Path
    keep: Keep
    data_dir: str | None = None
    seconds: float = 30.0
    memory_gb: float = 2.0
    workers: Workers = field(default_factory=Workers)

    def asked(self, name: Any, given: Mapping[str, Any]) -> Asked:
        """A run of one of our results; anything else is refused in one line."""
        if name not in self.names:
            raise HTTPException(404, one_line(f"there is no result '{name}' here"))
        texts = trials.texts_of(given)
        return Asked(name, texts, self.outputs, self.data_dir, self.seconds, self.memory_gb)


def guarded(site: Site, token: str, port: int) -> Guard:
    """The whole application, behind its guard."""
    return Guard(application(site), token, port)


def application(site: Site) -> Starlette:
    """Pages and runs, for whoever gets here."""
    runs = _Runs(site)

    async def listing(_: Request) -> Response:
        return HTMLResponse(pages.listing(site.names))

    async def result(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in site.names:
            raise HTTPException(404, one_line(f"there is no result '{name}' here"))
        texts = {key: text for key, text in request.query_params.items() if key != TOKEN}
        return HTMLResponse(pages.result(site.names, name, texts, site.data_dir))

    async def static(request: Request) -> Response:
        path = STATIC.get(request.path_params["file"])
        if path is None:
            raise HTTPException(404, "there is no such file")
        return FileResponse(path)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            site.workers.close()

    return Starlette(
        routes=[
            Route("/", listing, methods=["GET"]),
            Route("/result/{name:path}", result, methods=["GET"]),
            Route("/static/{file}", static, methods=["GET"]),
            Route("/run", _posted(runs.run), methods=["POST"]),
            Route("/keep", _posted(runs.keep), methods=["POST"]),
            Route("/cancel", _posted(runs.cancel), methods=["POST"]),
        ],
        exception_handlers={HTTPException: _told},
        lifespan=lifespan,
    )


async def _told(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", error.status_code)


Handler = Callable[[Request, str, dict[str, Any]], Awaitable[bytes]]


def _posted(handle: Handler) -> Callable[[Request], Awaitable[Response]]:
    """A handler of JSON in, JSON out; bad input is a line like any answer."""

    async def endpoint(request: Request) -> Response:
        content = await _content(request)
        tab = content.get("tab")
        if not isinstance(tab, str) or not 0 < len(tab) <= TAB:
            raise HTTPException(400, f"tab is missing; allowed: up to {TAB} characters")
        try:
            answer = await handle(request, tab, content)
        except BadInput as error:
            answer = encoded({"problems": error.problems})
        except Stopped as stopped:
            answer = encoded({"stopped": str(stopped)})
        return Response(answer, media_type="application/json")

    return endpoint


async def _content(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "allowed: application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY:
            raise HTTPException(413, f"more than {BODY // 1024} kB")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(content, dict) or not isinstance(content.get("values", {}), dict):
        raise HTTPException(400, "allowed: {tab, result, values}")
    return content


def encoded(answer: Answer) -> bytes:
    """JSON as browsers read it: numbers that it does not have are none."""
    return json.dumps(answer, allow_nan=False).encode()


class _Runs:
    """Runs on request, and the answers that were given."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.answers: OrderedDict[Asked, bytes] = OrderedDict()

    async def run(self, request: Request, tab: str, content: dict[str, Any]) -> bytes:
        asked = self.site.asked(content.get("result"), content.get("values", {}))
        if asked in self.answers:
            self.site.workers.cancel(tab, "superseded by a newer run")
            self.answers.move_to_end(asked)
            return self.answers[asked]
        seconds = self.site.seconds + SLACK
        work = asyncio.ensure_future(
            self.site.workers.run(
                tab, trials.trial, asked, seconds=seconds, behind=content.get("behind") is True
            )
        )
        answer = await _while_connected(request, work)
        found = encoded(answer)
        if "problems" not in answer:
            self._remember(asked, found)
        return found

    async def keep(self, _: Request, tab: str, content: dict[str, Any]) -> bytes:
        """Record a run; nothing but the end of the server stops it half-way."""
        asked = self.site.asked(content.get("result"), content.get("values", {}))
        seconds = self.site.seconds + KEEPING
        workers, keep = self.site.workers, self.site.keep
        work = workers.run(f"{tab} keeps", trials.kept, asked, keep, seconds=seconds)
        answer = await work
        self.answers.pop(asked, None)  # it is recorded now
        return encoded(answer)

    async def cancel(self, _: Request, tab: str, __: dict[str, Any]) -> bytes:
        return encoded({"cancelled": self.site.workers.cancel(tab)})

    def _remember(self, asked: Asked, answer: bytes) -> None:
        self.answers[asked] = answer
        while sum(map(len, self.answers.values())) > REMEMBERED:
            self.answers.popitem(last=False)


async def _while_connected(request: Request, work: "asyncio.Future[Answer]") -> Answer:
    """Wait for a run as long as somebody waits for it: a tab that is closed stops its run."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    watch = asyncio.ensure_future(gone())
    both: set[asyncio.Future[Any]] = {work, watch}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            raise Stopped("nobody waits for it any more")
        return work.result()
    finally:
        watch.cancel()
