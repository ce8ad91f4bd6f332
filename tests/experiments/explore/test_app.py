"""The application inside its guard: pages, runs, and what it refuses."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from experiments.explore import app as module
from experiments.explore.app import Site, application
from experiments.explore.guard import Guard

from .conftest import HOST, ORIGIN, PORT, ask, completed, post

Made = Callable[..., Site]
BOOK = {"tab": "a", "result": "fcml/fig-1.15", "values": {}}


def tried(site: Made, scenario: Callable[[Any, Site], Awaitable[None]], **more: Any) -> None:
    async def whole() -> None:
        made = site(**more)
        try:
            await scenario(application(made), made)
        finally:
            made.workers.close()

    completed(whole())


def test_the_pages_and_their_files(site: Made) -> None:
    async def scenario(app: Any, _: Site) -> None:
        start = await ask(app, "GET", "/")
        assert "Figure 1.15" in start.text
        assert "Figure 1.16" not in start.text  # not of the selection
        page = await ask(app, "GET", "/result/fcml/fig-1.15")
        assert 'data-name="study.orders"' in page.text
        for file in ("style.css", "explore.css", "explore.js", "list.js"):
            assert (await ask(app, "GET", f"/static/{file}")).status == 200

    tried(site, scenario)


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
def test_what_is_not_there_is_one_line(site: Made, method: str, path: str, status: int) -> None:
    async def scenario(app: Any, _: Site) -> None:
        answer = await ask(app, method, path)
        assert answer.status == status
        assert answer.text.count("\n") == 1

    tried(site, scenario)


def test_the_address_is_escaped(site: Made) -> None:
    async def scenario(app: Any, _: Site) -> None:
        query = "study.orders=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&study.%3Cb%3E=1"
        page = await ask(app, "GET", "/result/fcml/fig-1.15", query=query)
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;alert(1)" in page.text
        assert "names study.&lt;b&gt;, which" in page.text
        answer = await ask(app, "GET", "/result/<b>")
        assert (answer.header("content-type") or "").startswith("text/plain")

    tried(site, scenario)


def test_a_run_and_one_like_it_that_is_remembered(site: Made) -> None:
    async def scenario(app: Any, made: Site) -> None:
        book = (await post(app, "/run", BOOK)).json
        assert book["claims"][0]["standing"] == "reproduced"
        moved = {**BOOK, "values": {"study.orders": "[1, 2]"}}
        other = (await post(app, "/run", moved)).json
        assert other["differs"] == ["study.orders"]
        assert other["figures"][0]["src"] != book["figures"][0]["src"]

        async def never(*_: Any, **__: Any) -> Any:
            raise AssertionError

        made.workers.run = never  # type: ignore[method-assign]
        assert (await post(app, "/run", BOOK)).json == book

    tried(site, scenario)


def test_answers_are_forgotten_oldest_first(site: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 25)
    runs = module._Runs(site())
    for number in range(3):
        runs._remember(runs.site.asked("fcml/ex-2.4", {"seed": str(number)}), b"0123456789")
    assert [dict(asked.texts)["seed"] for asked in runs.answers] == ["1", "2"]


def test_bad_values_are_told_in_one_line(site: Made) -> None:
    async def scenario(app: Any, _: Site) -> None:
        bad = {**BOOK, "values": {"study.orders": "[<b>]"}}
        (line,) = (await post(app, "/run", bad)).json["problems"]
        assert line.startswith("study.orders=[<b>] is not allowed; allowed: list[int]")
        (line,) = (await post(app, "/run", {**BOOK, "values": {"seed": 3}})).json["problems"]
        assert line == "seed is not a text"

    tried(site, scenario)


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
@pytest.mark.parametrize("path", ["/run", "/keep"])
def test_crooked_requests_are_refused(
    site: Made, path: str, kind: str, body: bytes, status: int
) -> None:
    async def scenario(app: Any, _: Site) -> None:
        answer = await ask(app, "POST", path, headers={"content-type": kind}, body=body)
        assert answer.status == status
        assert answer.text.count("\n") == 1

    tried(site, scenario)


SLOW = {
    "tab": "a",
    "result": "mlapp/fig-16.18-sparse-net",
    "values": {"study.rounds": "100000000", "study.repetitions": "100"},
}


def slow_site(site: Made) -> Callable[..., Site]:
    return lambda **more: site("fcml/fig-1.15", SLOW["result"], **more)


async def under_way(made: Site) -> None:
    """Until a worker has it."""
    while not made.workers._busy:
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)


def test_a_slow_run_is_cancelled_or_superseded(site: Made) -> None:
    async def scenario(app: Any, made: Site) -> None:
        for reason, stop in [("cancelled", "/cancel"), ("superseded by a newer run", "/run")]:
            slow = asyncio.ensure_future(post(app, "/run", SLOW))
            await under_way(made)
            other = await post(app, "/cancel", {"tab": "another"})
            assert other.json == {"cancelled": False}
            assert not slow.done()
            await post(app, stop, BOOK)
            assert (await slow).json == {"stopped": reason}

    tried(slow_site(site), scenario)


def test_a_slow_run_is_stopped_at_its_limit(site: Made) -> None:
    async def scenario(app: Any, _: Site) -> None:
        (line,) = (await post(app, "/run", SLOW)).json["problems"]
        assert line == "stopped after 0.5 s (--seconds allows more)"

    tried(slow_site(site), scenario, seconds=0.5)


def test_who_goes_away_stops_the_run(site: Made) -> None:
    async def scenario(app: Any, made: Site) -> None:
        leave = asyncio.Event()
        slow = asyncio.ensure_future(post(app, "/run", SLOW, leave=leave))
        await under_way(made)
        leave.set()
        assert (await slow).json == {"stopped": "nobody waits for it any more"}
        while made.workers._tabs:
            await asyncio.sleep(0.02)

    tried(slow_site(site), scenario)


def test_keeping_a_run_is_done_by_a_worker(site: Made) -> None:
    async def scenario(app: Any, _: Site) -> None:
        from experiments.configuration.build import experiment_job

        answer = (await post(app, "/keep", BOOK)).json
        assert answer["id"] == experiment_job("fcml/fig-1.15").key

    tried(site, scenario)


def test_the_whole_of_it_stands_behind_the_guard(site: Made) -> None:
    async def scenario(_: Any, made: Site) -> None:
        guard = module.guarded(made, "atoken", PORT)
        assert isinstance(guard, Guard)
        for path in ("/", "/static/explore.js", "/result/fcml/fig-1.15"):
            assert (await ask(guard, "GET", path, headers={"host": HOST})).status == 403
            opened = {"host": HOST, "cookie": f"bythebook-{PORT}=atoken"}
            assert (await ask(guard, "GET", path, headers=opened)).status == 200
        headers = {"host": HOST, "origin": ORIGIN, "content-type": "application/json"}
        body = json.dumps(BOOK).encode()
        assert (await ask(guard, "POST", "/keep", headers=headers, body=body)).status == 403

    tried(site, scenario)
