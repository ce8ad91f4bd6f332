"""The front page of MLflow's UI has one more script; other pages are unchanged."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Coroutine, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bythebook.experiments.tracking.experiment_tags import COLUMNS
from bythebook.experiments.tracking.ui_app import DATABASE, DefaultViewMiddleware, script

T = TypeVar("T")
PAGE = b"<!doctype html><html><head><title>MLflow</title></head></html>"


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in another thread: browser tests leave a running loop in the main thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


async def inner(scope: Any, receive: Any, send: Any) -> None:
    headers = [(b"content-type", b"text/html"), (b"Content-Length", b"62"), (b"etag", b"1")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
    await send({"type": "http.response.body", "body": PAGE[20:]})


def request(path: str) -> list[MutableMapping[str, Any]]:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {}

    run(DefaultViewMiddleware(inner)({"type": "http", "path": path}, receive, send))
    return sent


def test_the_front_page_selects_the_machine_learning_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATABASE, raising=False)
    start, body = request("/")
    text = body["body"]
    assert b"machine_learning" in text
    assert text.replace(script(None).encode(), b"") == PAGE
    headers = dict(start["headers"])
    assert headers == {b"content-type": b"text/html", b"content-length": str(len(text)).encode()}


def test_other_pages_are_unchanged() -> None:
    start, *bodies = request("/static-files/main.js")
    assert b"".join(body["body"] for body in bodies) == PAGE
    assert (b"etag", b"1") in start["headers"]


def test_the_columns_are_read_from_the_store(tmp_path: Path) -> None:
    database = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE experiment_tags (key, value, experiment_id)")
        rows = [(COLUMNS, "tags.`item`,metrics.`</script>`", 7), ("topic", "x", 7)]
        connection.executemany("INSERT INTO experiment_tags VALUES (?, ?, ?)", rows)
        connection.commit()
    line = script(str(database))
    assert line.count("</script>") == 1  # nothing in a name ends the script
    found = re.search(r"\)\((\{.*\}),(\{\"MLflowLocal.*\})\)</script>", line)
    assert found is not None
    (key, view), *others = json.loads(found[2]).items()
    assert not others
    assert '["7"]' in key
    assert view["selectedColumns"] == ["tags.`item`", "metrics.`</script>`"]
    assert script(str(tmp_path / "nowhere.db")) == script(None)
