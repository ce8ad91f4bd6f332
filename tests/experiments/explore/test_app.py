"""The web application: pages, runs, saved runs, and invalid requests."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bythebook.experiments.explore import app as module
from bythebook.experiments.explore.app import ExploreConfig, create_app
from bythebook.experiments.explore.security import SecurityMiddleware

from .conftest import HOST, ORIGIN, PORT, ask, completed, post

Factory = Callable[..., ExploreConfig]
BOOK = {"tab": "a", "result": "fcml/fig-1.15", "values": {}}


def run_scenario(
    site: Factory, scenario: Callable[[Any, ExploreConfig], Awaitable[None]], **more: Any
) -> None:
    async def run() -> None:
        config = site(**more)
        try:
            await scenario(create_app(config), config)
        finally:
            config.workers.close()

    completed(run())


def test_the_pages_and_their_files(site: Factory) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        start = await ask(app, "GET", "/")
        assert "Figure 1.15" in start.text
        assert "Figure 1.16" not in start.text  # not selected
        page = await ask(app, "GET", "/result/fcml/fig-1.15")
        assert 'data-name="study.orders"' in page.text
        for file in ("style.css", "explore.css", "explore.js", "list.js"):
            assert (await ask(app, "GET", f"/static/{file}")).status == 200

    run_scenario(site, scenario)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/result/fcml/fig-1.16", 404),
        ("GET", "/result/../../etc/passwd", 404),
        ("GET", "/static/../app.py", 404),
        ("GET", "/static/app.py", 404),
        ("GET", "/nothing", 404),
        ("GET", "/run", 405),
        ("POST", "/", 405),
    ],
)
def test_an_unknown_address_gives_one_line(
    site: Factory, method: str, path: str, status: int
) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        answer = await ask(app, method, path)
        assert answer.status == status
        assert answer.text.count("\n") == 1

    run_scenario(site, scenario)


def test_the_address_is_escaped(site: Factory) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        query = "study.orders=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&study.%3Cb%3E=1"
        page = await ask(app, "GET", "/result/fcml/fig-1.15", query=query)
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;alert(1)" in page.text
        assert "ignored: study.&lt;b&gt;." in page.text
        answer = await ask(app, "GET", "/result/<b>")
        assert (answer.header("content-type") or "").startswith("text/plain")

    run_scenario(site, scenario)


def test_an_equal_run_is_answered_from_the_cache(site: Factory) -> None:
    async def scenario(app: Any, config: ExploreConfig) -> None:
        book = (await post(app, "/run", BOOK)).json
        assert book["claims"][0]["category"] == "reproduced"
        changed = {**BOOK, "values": {"study.orders": "[1, 2]"}}
        other = (await post(app, "/run", changed)).json
        assert other["differs"] == ["study.orders"]
        assert other["figures"][0]["src"] != book["figures"][0]["src"]

        async def never(*_: Any, **__: Any) -> Any:
            raise AssertionError

        config.workers.run = never  # type: ignore[method-assign]
        assert (await post(app, "/run", BOOK)).json == book

    run_scenario(site, scenario)


def test_the_oldest_cached_response_is_removed_first(
    site: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHE_BYTES", 25)
    handlers = module._RunHandlers(site())
    for number in range(3):
        wanted = handlers.config.request("fcml/ex-2.4", {"seed": str(number)})
        handlers._add_to_cache(wanted, b"0123456789")
    assert [dict(asked.texts)["seed"] for asked in handlers.cache] == ["1", "2"]


def test_invalid_values_give_one_line(site: Factory) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        bad = {**BOOK, "values": {"study.orders": "[<b>]"}}
        (line,) = (await post(app, "/run", bad)).json["problems"]
        assert line.startswith("study.orders=[<b>] is not allowed; allowed: list[int]")
        (line,) = (await post(app, "/run", {**BOOK, "values": {"seed": 3}})).json["problems"]
        assert line == "seed: the value must be a string"

    run_scenario(site, scenario)


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("text/plain", b"{}", 415),
        ("application/x-www-form-urlencoded", b"a=1", 415),
        ("application/json", b"", 400),
        ("application/json", b"\xff\xfe", 400),
        ("application/json", b"[" * 60_000, 400),
        ("application/json", b"[]", 400),
        ("application/json", b"{}", 400),
        ("application/json", json.dumps({**BOOK, "tab": "x" * 65}).encode(), 400),
        ("application/json", json.dumps({**BOOK, "values": [1]}).encode(), 400),
        ("application/json", json.dumps({**BOOK, "result": "fcml/fig-1.16"}).encode(), 404),
        ("application/json", json.dumps({**BOOK, "result": ["a"]}).encode(), 404),
        ("application/json", b" " * (64 * 1024 + 1), 413),
    ],
)
@pytest.mark.parametrize("path", ["/run", "/save"])
def test_invalid_requests_are_refused(
    site: Factory, path: str, kind: str, body: bytes, status: int
) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        answer = await ask(app, "POST", path, headers={"content-type": kind}, body=body)
        assert answer.status == status
        assert answer.text.count("\n") == 1

    run_scenario(site, scenario)


SLOW = {
    "tab": "a",
    "result": "mlapp/fig-16.18",
    "values": {"study.rounds": "100000000", "study.repetitions": "100"},
}


def slow_site(site: Factory) -> Callable[..., ExploreConfig]:
    return lambda **more: site("fcml/fig-1.15", SLOW["result"], **more)


async def wait_until_busy(config: ExploreConfig) -> None:
    """Wait until a worker has started the run."""
    while not config.workers._busy:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)


def test_a_slow_run_is_cancelled_or_superseded(site: Factory) -> None:
    async def scenario(app: Any, config: ExploreConfig) -> None:
        for reason, stop in [("cancelled", "/cancel"), ("superseded by a newer run", "/run")]:
            slow = asyncio.ensure_future(post(app, "/run", SLOW))
            await wait_until_busy(config)
            other = await post(app, "/cancel", {"tab": "another"})
            assert other.json == {"cancelled": False}
            assert not slow.done()
            await post(app, stop, BOOK)
            assert (await slow).json == {"stopped": reason}

    run_scenario(slow_site(site), scenario)


def test_a_slow_run_stops_at_its_time_limit(site: Factory) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        (line,) = (await post(app, "/run", SLOW)).json["problems"]
        assert line == "stopped after 0.5 s (set --timeout to allow more)"

    run_scenario(slow_site(site), scenario, timeout=0.5)


def test_a_client_that_disconnects_stops_the_run(site: Factory) -> None:
    async def scenario(app: Any, config: ExploreConfig) -> None:
        leave = asyncio.Event()
        slow = asyncio.ensure_future(post(app, "/run", SLOW, leave=leave))
        await wait_until_busy(config)
        leave.set()
        assert (await slow).json == {"stopped": "client disconnected"}
        while config.workers._tabs:
            await asyncio.sleep(0.02)

    run_scenario(slow_site(site), scenario)


def test_a_run_is_saved_by_a_worker(site: Factory) -> None:
    async def scenario(app: Any, _: ExploreConfig) -> None:
        from bythebook.experiments.config.validation import load_job

        answer = (await post(app, "/save", BOOK)).json
        assert answer["id"] == load_job("fcml/fig-1.15").key

    run_scenario(site, scenario)


def test_the_application_is_behind_its_access_control(site: Factory) -> None:
    async def scenario(_: Any, config: ExploreConfig) -> None:
        secured = module.secured_app(config, "atoken", PORT)
        assert isinstance(secured, SecurityMiddleware)
        for path in ("/", "/static/explore.js", "/result/fcml/fig-1.15"):
            assert (await ask(secured, "GET", path, headers={"host": HOST})).status == 403
            opened = {"host": HOST, "cookie": f"bythebook-{PORT}=atoken"}
            assert (await ask(secured, "GET", path, headers=opened)).status == 200
        headers = {"host": HOST, "origin": ORIGIN, "content-type": "application/json"}
        body = json.dumps(BOOK).encode()
        assert (await ask(secured, "POST", "/save", headers=headers, body=body)).status == 403

    run_scenario(site, scenario)
