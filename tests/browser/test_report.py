"""The report as a reader sees it, opened from the file system."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

from experiments.cli import main

SELECTION = ["fcml/fig-1.10", "fcml/fig-1.15", "prml/fig-10.9", "notes/2.1.3-regularisation"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report with every verdict, and a sweep."""
    outputs = tmp_path_factory.mktemp("outputs")
    place = ["--outputs", str(outputs)]
    assert main(["reproduce", *SELECTION, "--jobs", "2", "--tracking", "off", *place]) == 0
    sweep = ["run", "-m", "study=polynomial_order", "study.methods=[kfold]", "seed=0,1,2"]
    knobs = ["study.folds=3,9", "study.data=olympics-100m-men,olympics-100m-women"]
    assert main([*sweep, *knobs, "tracking=off", f"outputs={outputs}"]) == 0
    assert main(["report", *SELECTION, *place]) == 0
    return outputs / "report"


def test_the_front_page_shows_the_scoreboard(page: Any, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    text = page.inner_text("main")
    for word in ("reproduced", "consistent", "erratum", "differs", "A First Course"):
        assert word in text


def test_an_experiment_page_shows_its_figure_and_claims(page: Any, report: Path) -> None:
    page.goto((report / "experiments" / "fcml" / "fig-1.10.html").as_uri())
    sizes = page.eval_on_selector_all("img", "all => all.map(i => [i.complete, i.naturalWidth])")
    assert sizes
    assert all(complete and width > 100 for complete, width in sizes)
    text = page.inner_text("main")
    assert "0.459" in text
    assert "0.458" in text
    assert "bythebook run experiment=fcml/fig-1.10" in text


def test_the_filter_narrows_the_list(page: Any, report: Path) -> None:
    page.goto((report / "experiments.html").as_uri())

    def shown() -> list[str]:
        rows = page.locator("tbody tr:visible")
        return [rows.nth(i).inner_text() for i in range(rows.count())]

    assert len(shown()) == len(SELECTION)
    page.locator("input[type=search]").fill("leave-one-out")
    assert len(shown()) == 1
    assert "1.15" in shown()[0]
    page.locator("input[type=search]").fill("")
    page.locator("select").nth(0).select_option("prml")
    assert len(shown()) == 1
    assert "10.9" in shown()[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser: Any, report: Path, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    opened.goto((report / "index.html").as_uri())
    colours = opened.evaluate(
        "() => { const of = e => getComputedStyle(e), none = 'rgba(0, 0, 0, 0)';"
        " const papers = [document.body, document.documentElement].map(e => of(e).backgroundColor);"
        " const paper = papers.find(c => c !== none) || 'rgb(255, 255, 255)';"
        " const numbers = c => c.match(/[0-9.]+/g).slice(0, 3).map(Number);"
        " return [of(document.body).color, paper].map(numbers); }"
    )
    context.close()
    ink, paper = (_luminance(colour) for colour in colours)
    assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7  # WCAG AAA for body text
    assert (paper > ink) == (scheme == "light")


def _luminance(colour: list[float]) -> float:
    shares = [c / 255 for c in colour]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("width", [360, 768])
def test_nothing_overflows_a_narrow_screen(browser: Any, report: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    opened = context.new_page()
    wide = []
    for path in sorted(report.rglob("*.html")):
        opened.goto(path.as_uri())
        if opened.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(path.relative_to(report).as_posix())
    context.close()
    assert wide == []


def test_no_link_is_broken_and_nothing_comes_from_elsewhere(page: Any, report: Path) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    broken = []
    for path in sorted(report.rglob("*.html")):
        page.goto(path.as_uri())
        found = page.eval_on_selector_all(
            "a[href], img[src], link[href], script[src]", "all => all.map(e => e.href || e.src)"
        )
        for address in found:
            parts = urlparse(address)
            target = Path(unquote(parts.path))
            if parts.scheme == "file" and not target.exists():
                broken.append((path.name, address))
    assert broken == []
    assert {urlparse(address).scheme for address in requested} <= {"file", "data"}


def test_a_sweep_has_a_page_with_its_table_and_figure(page: Any, report: Path) -> None:
    (path,) = (report / "sweeps").glob("*.html")
    page.goto(path.as_uri())
    assert "folds" in page.inner_text("main")
    assert page.locator("table").count() >= 2
    shown = page.eval_on_selector_all("img", "all => all.map(i => [i.src, i.naturalWidth])")
    assert [Path(source).name for source, _ in shown] == ["sweep.svg", "curves.svg"]
    assert all(width > 100 for _, width in shown)
    assert page.get_by_role("link", name="PDF").count() == 2
