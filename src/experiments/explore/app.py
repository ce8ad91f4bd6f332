"""The web application: a list of results, a page for each result, and runs as JSON."""

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

from bythebook.experiments.core.errors import InputError, single_line
from bythebook.experiments.explore import pages, runs
from bythebook.experiments.explore.runs import RunRequest, RunResponse, SaveCallback
from bythebook.experiments.explore.security import TOKEN, SecurityMiddleware
from bythebook.experiments.explore.worker_pool import RunCancelled, WorkerPool

MAX_BODY_BYTES = 64 * 1024  # of a request
MAX_TAB_ID = 64  # characters of the id that a browser tab chooses
CACHE_BYTES = 48 * 2**20  # of stored responses
TIMEOUT_MARGIN_S = 10.0  # for a process to start, and to notice its own time limit
SAVE_TIMEOUT_S = 300.0  # for the figures of a record, and for a new tracking store
STATIC = {
    "style.css": Path(pages.REPORT_DIR) / "static" / "style.css",
    "explore.css": Path(pages.TEMPLATE_DIR) / "static" / "explore.css",
    "explore.js": Path(pages.TEMPLATE_DIR) / "static" / "explore.js",
    "list.js": Path(pages.TEMPLATE_DIR) / "static" / "list.js",
}


@dataclass
class ExploreConfig:
    """The results that the pages offer, and the settings and limits of their runs."""

    names: Sequence[str]
    outputs: Path
    save: SaveCallback
    data_dir: str | None = None
    timeout: float = 30.0
    memory_gb: float = 2.0
    workers: WorkerPool = field(default_factory=WorkerPool)

    def request(self, name: Any, values: Mapping[str, Any]) -> RunRequest:
        """The run of a result with changed parameters; other names are an error 404."""
        if name not in self.names:
            raise HTTPException(404, single_line(f"there is no result '{name}' on this server"))
        texts = runs.validated_values(values)
        return RunRequest(name, texts, self.outputs, self.data_dir, self.timeout, self.memory_gb)


def secured_app(config: ExploreConfig, token: str, port: int) -> SecurityMiddleware:
    """The application behind its access control."""
    return SecurityMiddleware(create_app(config), token, port)


def create_app(config: ExploreConfig) -> Starlette:
    """The application without access control."""
    handlers = _RunHandlers(config)

    async def listing(_: Request) -> Response:
        return HTMLResponse(pages.listing(config.names))

    async def result(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in config.names:
            raise HTTPException(404, single_line(f"there is no result '{name}' on this server"))
        texts = {key: text for key, text in request.query_params.items() if key != TOKEN}
        return HTMLResponse(pages.result(config.names, name, texts, config.data_dir))

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
            config.workers.close()

    return Starlette(
        routes=[
            Route("/", listing, methods=["GET"]),
            Route("/result/{name:path}", result, methods=["GET"]),
            Route("/static/{file}", static, methods=["GET"]),
            Route("/run", _json_endpoint(handlers.run), methods=["POST"]),
            Route("/save", _json_endpoint(handlers.save), methods=["POST"]),
            Route("/cancel", _json_endpoint(handlers.cancel), methods=["POST"]),
        ],
        exception_handlers={HTTPException: _error_response},
        lifespan=lifespan,
    )


async def _error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", error.status_code)


Handler = Callable[[Request, str, dict[str, Any]], Awaitable[bytes]]


def _json_endpoint(handle: Handler) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for JSON requests; invalid input is a normal response with its problems."""

    async def endpoint(request: Request) -> Response:
        content = await _content(request)
        tab = content.get("tab")
        if not isinstance(tab, str) or not 0 < len(tab) <= MAX_TAB_ID:
            raise HTTPException(400, f"tab is missing; allowed: 1 to {MAX_TAB_ID} characters")
        try:
            response = await handle(request, tab, content)
        except InputError as error:
            response = encode_response({"problems": error.problems})
        except RunCancelled as stopped:
            response = encode_response({"stopped": str(stopped)})
        return Response(response, media_type="application/json")

    return endpoint


async def _content(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "the content type must be application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"request larger than {MAX_BODY_BYTES // 1024} kB")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(content, dict) or not isinstance(content.get("values", {}), dict):
        raise HTTPException(400, "the body must be an object with tab, result and values")
    return content


def encode_response(response: RunResponse) -> bytes:
    """Strict JSON; NaN and infinity raise ValueError."""
    return json.dumps(response, allow_nan=False).encode()


class _RunHandlers:
    """The endpoints for runs, with a cache of their responses."""

    def __init__(self, config: ExploreConfig) -> None:
        self.config = config
        self.cache: OrderedDict[RunRequest, bytes] = OrderedDict()

    async def run(self, request: Request, tab: str, content: dict[str, Any]) -> bytes:
        wanted = self.config.request(content.get("result"), content.get("values", {}))
        workers = self.config.workers
        if wanted in self.cache:
            workers.cancel(tab, "superseded by a newer run")
            self.cache.move_to_end(wanted)
            return self.cache[wanted]
        seconds = self.config.timeout + TIMEOUT_MARGIN_S
        background = content.get("background") is True
        work = asyncio.ensure_future(
            workers.run(tab, runs.run_request, wanted, seconds=seconds, background=background)
        )
        response = await _until_disconnect(request, work)
        encoded = encode_response(response)
        if "problems" not in response:
            self._add_to_cache(wanted, encoded)
        return encoded

    async def save(self, _: Request, tab: str, content: dict[str, Any]) -> bytes:
        """Record a run. A closed tab does not interrupt it, only the end of the server does."""
        wanted = self.config.request(content.get("result"), content.get("values", {}))
        seconds = self.config.timeout + SAVE_TIMEOUT_S
        workers, save = self.config.workers, self.config.save
        response = await workers.run(f"{tab} saves", runs.save_run, wanted, save, seconds=seconds)
        self.cache.pop(wanted, None)  # the run is recorded now, and the cached response says not
        return encode_response(response)

    async def cancel(self, _: Request, tab: str, __: dict[str, Any]) -> bytes:
        return encode_response({"cancelled": self.config.workers.cancel(tab)})

    def _add_to_cache(self, wanted: RunRequest, encoded: bytes) -> None:
        self.cache[wanted] = encoded
        while sum(map(len, self.cache.values())) > CACHE_BYTES:
            self.cache.popitem(last=False)


async def _until_disconnect(request: Request, work: "asyncio.Future[RunResponse]") -> RunResponse:
    """The response of a run; a closed tab stops its run."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    watch = asyncio.ensure_future(disconnected())
    both: set[asyncio.Future[Any]] = {work, watch}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            raise RunCancelled("client disconnected")
        return work.result()
    finally:
        watch.cancel()
