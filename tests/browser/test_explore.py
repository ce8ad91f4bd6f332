"""The explore pages in a browser: parameters are changed, figures and verdicts update."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config.validation import load_job

SLOW = "mlapp/fig-16.18"
SMALL = {"hidden": "[2]", "n": "20", "repetitions": "1", "max_iter": "5", "penalties": "[0.5]"}
ENDLESS = f"/result/{SLOW}?rounds=100000000&{urlencode(SMALL)}".replace("&", "&study.").replace(
    "?", "?study."
)
# Ten results of ten studies, each with a parameter and another value for it.
CHANGED = {
    "fcml/fig-1.15": ("orders", "[1, 2, 3, 4, 5]"),
    "fcml/ex-1.12": ("ln_count", "30"),
    "fcml/ex-2.4": ("function", "square"),
    "fcml/fig-3.1": ("game_tosses", "12"),
    "fcml/fig-3.4": ("alphas", "[4, 2, 3]"),
    "fcml/fig-1.5": ("data", "olympics-100m-women"),
    "fcml/ex-6.6": ("seed", "7"),
    "mlapp/listing-17.1": ("six", "0.3"),
    "mlapp/fig-18.9": ("kappa", "1.0"),
    "prml/fig-a.6": ("noise", "0.6"),
}
PATIENCE = 120_000  # ms, on a busy machine


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "mlflow.db").write_bytes(empty_store.read_bytes())
    return folder


@pytest.fixture(scope="module")
def address(outputs: Path) -> Iterator[str]:
    """The address that the command prints."""
    command = [sys.executable, "-m", "bythebook", "explore", *CHANGED, SLOW, "--no-browser"]
    server = subprocess.Popen(
        [*command, "--outputs", str(outputs), "--timeout", "300"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    server.stdout.readline()
    yield server.stdout.readline().strip()
    server.terminate()
    assert server.wait(timeout=60) == 0


@pytest.fixture
def base(page: Any, address: str) -> str:
    """The address of the server, after the browser has received its cookie."""
    page.goto(address)
    assert "token" not in page.url
    return address.partition("/?")[0]


def done(page: Any) -> None:
    """Wait until the requested run is shown."""
    page.locator("#bench:not([aria-busy])").wait_for(timeout=PATIENCE)
    page.locator("#status", has_text=re.compile("drawn in")).wait_for(timeout=PATIENCE)


def parameter(page: Any, name: str) -> Any:
    full = name if name == "seed" else f"study.{name}"
    return page.locator(f'.parameter[data-name="{full}"]')


def set_value(page: Any, name: str, value: str) -> None:
    """Set a parameter through its widget."""
    box = parameter(page, name)
    if box.locator("select").count():
        box.locator("select").select_option(value)
    else:
        box.locator("input:not([type=range]), textarea").fill(value)


def wait_for_change(page: Any, name: str) -> None:
    """Wait until a parameter is marked as changed and its run is shown."""
    page.locator(f'.parameter.changed[data-name$="{name}"]').wait_for()
    page.locator("#command", has_text=f"{name}=").wait_for(timeout=PATIENCE)
    done(page)


def source(page: Any, whose: str = "yours") -> str:
    return str(page.locator(f"#{whose} img").get_attribute("src"))


def cells(page: Any, whose: str = "yours") -> list[str]:
    return list(page.locator(f"#claims .of-{whose}").all_text_contents())


def evidence(page: Any, whose: str = "yours") -> list[str]:
    lines = page.locator(f"#claims .evidence-of-{whose}").all_text_contents()
    return [line.partition(":")[2] for line in lines]


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_parameter_updates_figure_and_verdicts(page: Any, base: str, name: str) -> None:
    page.goto(f"{base}/result/{name}")
    done(page)
    before, claims = source(page), cells(page, "book")
    assert page.locator(".parameter.changed").count() == 0
    assert len(claims) == len(load_job(name).claims)
    assert all(re.search(r"\w", claim) for claim in claims)
    assert not any(cells(page))
    size = page.locator("#yours img").evaluate("image => [image.complete, image.naturalWidth]")
    assert size[0]
    assert size[1] > 100

    short, value = CHANGED[name]
    set_value(page, short, value)
    wait_for_change(page, short)
    assert page.locator("#problem").is_hidden()
    assert source(page) != before
    assert source(page, "books") == before
    assert cells(page, "book") == claims
    assert all(cells(page))
    assert cells(page) != claims or evidence(page) != evidence(page, "book")
    page.locator("#reset").click()
    page.locator("#command", has_text=re.compile(rf"^bythebook run {re.escape(name)}$")).wait_for()
    assert source(page) == before


def test_a_slider_changes_its_number(page: Any, base: str) -> None:
    page.goto(f"{base}/result/fcml/fig-1.15")
    done(page)
    slider = parameter(page, "seed").get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    wait_for_change(page, "seed")
    assert slider.get_attribute("aria-valuetext") == "2"
    assert parameter(page, "seed").locator("input[type=text]").input_value() == "2"
    parameter(page, "seed").get_by_role("button", name="published: 0").click()
    page.locator(".parameter.changed").wait_for(state="detached")


def test_a_bad_value_is_one_line_at_its_parameter(page: Any, base: str) -> None:
    page.goto(f"{base}/result/fcml/fig-1.15")
    done(page)
    before = source(page)
    set_value(page, "orders", "[1, <b>two</b>]")
    alert = page.get_by_role("alert")
    alert.filter(has_text="study.orders=").wait_for(timeout=PATIENCE)
    line = "study.orders=[1, <b>two</b>] is not allowed; allowed: list"
    assert alert.inner_text().startswith(line)
    assert "\n" not in alert.inner_text()
    assert page.locator("#problem b").count() == 0
    invalid = page.locator("[aria-invalid=true]")
    assert invalid.input_value() == "[1, <b>two</b>]"
    assert source(page) == before
    assert page.locator("#save").is_disabled()
    set_value(page, "orders", "[1, 2]")
    wait_for_change(page, "orders")
    assert alert.count() == 0
    assert invalid.count() == 0


def test_a_slow_run_shows_its_time_and_is_cancelled(page: Any, base: str) -> None:
    page.goto(f"{base}{ENDLESS}")
    page.locator("#status", has_text=re.compile(r"running, [1-9]\.\d s")).wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Cancel").click()
    page.locator("#status", has_text="cancelled").wait_for(timeout=PATIENCE)
    assert page.get_by_role("button", name="Cancel").is_hidden()
    set_value(page, "rounds", "1")
    page.locator("#command", has_text="study.rounds=1").wait_for(timeout=PATIENCE)


def test_a_newer_setting_supersedes_a_slow_run(page: Any, base: str) -> None:
    page.goto(f"{base}{ENDLESS}")
    page.locator("#status", has_text=re.compile(r"running, [1-9]\.\d s")).wait_for(timeout=PATIENCE)
    set_value(page, "rounds", "2")
    page.locator("#command", has_text="study.rounds=2").wait_for(timeout=PATIENCE)
    done(page)


def test_two_tabs_do_not_disturb_each_other(page: Any, base: str) -> None:
    other = page.context.new_page()
    other.goto(f"{base}{ENDLESS}")
    running = other.locator("#status", has_text=re.compile(r"running, \d"))
    running.wait_for(timeout=PATIENCE)
    page.goto(f"{base}/result/fcml/fig-1.15")
    done(page)
    set_value(page, "orders", "[1, 2, 3, 4]")
    wait_for_change(page, "orders")
    running.wait_for()
    other.get_by_role("button", name="Cancel").click()
    other.locator("#status", has_text="cancelled").wait_for(timeout=PATIENCE)
    assert "orders=" in page.locator("#command").inner_text()


def test_the_address_contains_the_state(page: Any, base: str) -> None:
    page.goto(f"{base}/result/fcml/fig-1.15")
    done(page)
    set_value(page, "orders", "[1, 2, 3]")
    set_value(page, "predict_at", "[2012]")
    wait_for_change(page, "orders")
    page.get_by_label("side by side").check()
    query = parse_qs(urlsplit(page.url).query)
    changed = {"study.orders": ["[1, 2, 3]"], "study.predict_at": ["[2012]"]}
    assert query == {**changed, "view": ["both"]}
    command, drawn = page.locator("#command").inner_text(), source(page)
    page.reload()
    wait_for_change(page, "orders")
    assert page.locator("#command").inner_text() == command
    assert source(page) == drawn
    assert page.locator("#books img").is_visible()
    assert parameter(page, "predict_at").locator("input, textarea").first.input_value() == "[2012]"


def test_a_run_is_recorded_on_request_only(page: Any, base: str, outputs: Path) -> None:
    page.goto(f"{base}/result/fcml/fig-1.15?seed=41&study.folds=[9]")
    done(page)
    assert not list(outputs.glob("runs/*/*/*/run.json"))
    page.get_by_role("button", name="Record this run").click()
    saved = page.locator("#saved", has_text="recorded: run")
    saved.wait_for(timeout=PATIENCE)
    (path,) = outputs.glob("runs/*/*/*/run.json")
    record = json.loads(path.read_text())
    assert saved.inner_text() == f"recorded: run {record['id']}"
    assert record["science"]["seed"] == 41
    words = page.locator("#command").inner_text().replace("'", "").split()[2:]
    assert main(["run", *words, f"outputs={outputs}", "tracking=off"]) == 0
    assert len(list(outputs.glob("runs/*/*/*/run.json"))) == 1  # the same run
    page.reload()
    page.locator("#status", has_text=f"cached (run {record['id']})").wait_for()


def test_the_search_accepts_both_spellings(page: Any, base: str) -> None:
    page.goto(base)
    rows = page.locator(".results li:visible")
    assert rows.count() == len(CHANGED) + 1
    for word in ("penalised", "Penalized"):
        page.get_by_label("Search").fill(f"{word} exercise")
        assert rows.count() == 1
        assert "Exercise 1.12" in rows.inner_text()
    page.get_by_label("Search").fill("no such words")
    page.get_by_text(f"0 of {len(CHANGED) + 1} results").wait_for()
    page.get_by_label("Search").fill("")
    page.get_by_label("Book").select_option("prml")
    assert rows.count() == 1
    assert urlsplit(page.url).query == "book=prml"
    rows.get_by_role("link").click()
    done(page)


def test_access_without_the_token_is_refused(browser: Any, address: str) -> None:
    context = browser.new_context()
    opened = context.new_page()
    response = opened.goto(address.partition("?")[0])
    assert response.status == 403
    assert "bythebook explore" in opened.inner_text("body")
    context.close()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_overflows_and_all_inputs_have_labels(page: Any, base: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in ("/", "/result/fcml/fig-1.15", "/result/fcml/fig-3.4"):
        page.goto(base + path)
        if path != "/":
            done(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        unlabelled = page.evaluate(
            "() => [...document.querySelectorAll('input, select, textarea, button')].filter("
            "e => !e.labels?.length && !e.ariaLabel && !e.textContent.trim()).length"
        )
        assert unlabelled == 0
