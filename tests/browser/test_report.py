"""The report in a browser, opened from the file system."""

import io
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np
import pytest
from PIL import Image

from bythebook.experiments.cli.main import main

SELECTION = ["fcml/fig-1.10", "fcml/fig-1.15", "prml/fig-10.9", "notes/2.1.3-regularisation"]
LONG = "prml/fig-9.8"  # a result with many claims


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report with every verdict, and a sweep."""
    outputs = tmp_path_factory.mktemp("outputs")
    folder = ["--outputs", str(outputs)]
    assert main(["reproduce", *SELECTION, "--jobs", "2", "--tracking", "off", *folder]) == 0
    sweep = ["run", "-m", "study=polynomial_order", "study.folds=[5]", "seed=0,1,2"]
    parameters = ["study.partitions=3,9", "study.data=olympics-100m-men,olympics-100m-women"]
    assert main([*sweep, *parameters, "tracking=off", f"outputs={outputs}"]) == 0
    varied = ["run", "-m", "experiment=fcml/fig-1.15", "metric=argmin(loo_loss)"]
    data = "study.data=olympics-100m-men,olympics-100m-women"
    assert main([*varied, data, "tracking=off", f"outputs={outputs}"]) == 0
    assert main(["report", *SELECTION, *folder]) == 0
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
    assert "bythebook run fcml/fig-1.10" in text


def test_the_filter_narrows_the_list(page: Any, report: Path) -> None:
    page.goto((report / "experiments.html").as_uri())

    def shown() -> list[str]:
        rows = page.locator("tbody tr:visible")
        return [rows.nth(i).inner_text() for i in range(rows.count())]

    assert len(shown()) == len(SELECTION)
    page.locator("#filter input").fill("leave-one-out")
    assert len(shown()) == 1
    assert "1.15" in shown()[0]
    page.locator("#filter input").fill("")
    page.locator("select").nth(0).select_option("prml")
    assert len(shown()) == 1
    assert "10.9" in shown()[0]


@pytest.mark.parametrize("start", ["index.html", "experiments/fcml/fig-1.10.html"])
@pytest.mark.parametrize("words", ["regularization", "regularisation"])
def test_the_search_works_with_the_keyboard(
    page: Any, report: Path, start: str, words: str
) -> None:
    page.goto((report / start).as_uri())
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_selector("#matches li")
    assert page.get_by_role("combobox").get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#matches [aria-selected=true]")
    assert "2.1.3" in chosen.inner_text()
    assert page.get_by_role("combobox").get_attribute("aria-activedescendant") == (
        chosen.get_attribute("id")
    )
    page.keyboard.press("Enter")
    page.wait_for_url("**/2.1.3-regularisation.html")


def test_the_search_contains_verdicts_and_reports_no_match(page: Any, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    search = page.locator("#find input")
    search.fill("erratum")
    page.wait_for_selector("#matches li")
    assert page.locator("#matches li[data-url]").count() >= 2
    search.fill("xylophone")
    page.wait_for_function("document.getElementById('matches-status').textContent === '0 matches'")
    assert "No page contains" in page.locator("#matches").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#matches").is_hidden()
    search.fill("leave-one-out")
    search.press("Enter")
    page.wait_for_url("**/experiments.html?text=leave-one-out")
    assert page.locator("tbody tr:visible").count() == 1


def test_without_scripts_lists_are_complete_and_the_search_opens_them(
    browser: Any, report: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto((report / "books" / "fcml.html").as_uri())
    opened.locator("#find input").fill("ridge")
    opened.get_by_role("button", name="Search").click()
    opened.wait_for_url("**/experiments.html?text=ridge")
    assert opened.locator("tbody tr:visible").count() == len(SELECTION)
    opened.goto((report / "errata.html").as_uri())
    assert opened.locator("article:visible").count() >= 2
    context.close()


def test_the_gallery_has_a_filter_and_links_to_results(page: Any, report: Path) -> None:
    page.goto((report / "gallery.html").as_uri())
    pictures = page.locator(".picture:visible")
    every = pictures.count()
    assert every >= len(SELECTION)
    page.locator("#filter select[name=book]").select_option("prml")
    assert 0 < pictures.count() < every
    assert page.locator("section[data-part]:visible").count() == 1
    assert "of" in page.locator("#count").inner_text()
    pictures.first.locator("a").click()
    page.wait_for_url("**/fig-10.9.html#figure-1")


def test_the_ledger_has_filters(page: Any, report: Path) -> None:
    page.goto((report / "errata.html").as_uri())
    entries = page.locator("article:visible")
    every = entries.count()
    for name in ("book", "cause", "copy"):
        options = page.locator(f"#filter select[name={name}] option")
        values = [options.nth(i).get_attribute("value") for i in range(options.count())]
        shown = []
        for value in values[1:]:
            page.locator(f"#filter select[name={name}]").select_option(value)
            shown.append(entries.count())
            assert page.locator("[data-with]:not([hidden])").count() == shown[-1]
        assert sum(shown) == every  # each entry has one book, one cause, one copy
        page.get_by_role("button", name="Clear").click()
        page.wait_for_function(
            f"document.querySelectorAll('article:not([hidden])').length == {every}"
        )
    page.locator("#filter input").fill("0.458")
    assert 0 < entries.count() < every
    hidden = page.locator("article[hidden]").first.get_attribute("id")
    page.evaluate("id => { location.hash = id }", hidden)  # a link resets the filter
    page.wait_for_function("id => !document.getElementById(id).hidden", arg=hidden)


def test_the_front_page_is_short_and_unfolds_for_printing(page: Any, report: Path) -> None:
    page.goto((report / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 900
    assert page.locator("details[open]").count() == 0
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0


def test_the_page_of_a_result_is_short_with_everything_folded(browser: Any, tmp_path: Path) -> None:
    outputs = ["--outputs", str(tmp_path)]
    assert main(["reproduce", LONG, "--jobs", "1", "--tracking", "off", *outputs]) == 0
    assert main(["report", LONG, *outputs]) == 0
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    opened = context.new_page()
    opened.goto((tmp_path / f"report/experiments/{LONG}.html").as_uri())
    assert opened.locator("details").count() > 10
    assert opened.locator("details[open]").count() == 0
    assert opened.evaluate("document.documentElement.scrollHeight") <= 3500
    context.close()


def test_a_claim_opens_to_its_expression(page: Any, report: Path) -> None:
    page.goto((report / "experiments/fcml/fig-1.15.html").as_uri())
    claim = page.locator(".claims li").first
    code = claim.locator("code").first
    assert not code.is_visible()
    for text in ("printed", "computed", "reproduced"):
        assert text in claim.inner_text()
    claim.locator("summary").click()
    assert code.is_visible()
    # A link to a folded derived check opens the block and the check.
    hidden = page.locator("section[aria-labelledby=claims-derived] li").last
    assert not hidden.is_visible()
    page.evaluate("id => { location.hash = id }", hidden.get_attribute("id"))
    page.wait_for_function(
        "id => document.getElementById(id).querySelector('code').checkVisibility()",
        arg=hidden.get_attribute("id"),
    )
    headings = page.locator("main h2").all_inner_texts()
    derived = page.locator("section[aria-labelledby=claims-derived] li").count()
    printed = page.locator("section[aria-labelledby=claims-printed] li").count()
    assert f"Derived checks: {derived} of {derived} hold" in headings
    assert f"Printed claims: {printed} reproduced" in headings


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(browser: Any, report: Path, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    opened.goto((report / "index.html").as_uri())
    colours = opened.evaluate(
        "() => { const of = e => getComputedStyle(e), none = 'rgba(0, 0, 0, 0)';"
        " const all = [document.body, document.documentElement].map(e => of(e).backgroundColor);"
        " const background = all.find(c => c !== none) || 'rgb(255, 255, 255)';"
        " const numbers = c => c.match(/[0-9.]+/g).slice(0, 3).map(Number);"
        " return [of(document.body).color, background].map(numbers); }"
    )
    context.close()
    text, background = (_luminance(colour) for colour in colours)
    contrast = (max(text, background) + 0.05) / (min(text, background) + 0.05)
    assert contrast > 7  # WCAG AAA for body text
    assert (background > text) == (scheme == "light")


@pytest.mark.parametrize("url", ["experiments/fcml/fig-1.15.html", "sweeps.html", "gallery.html"])
def test_figures_follow_the_scheme_with_equal_colours(browser: Any, report: Path, url: str) -> None:
    shots = {}
    for scheme in ("light", "dark"):
        # Small pictures have thin lines: three pixels each show their colour.
        context = browser.new_context(color_scheme=scheme, device_scale_factor=3)
        opened = context.new_page()
        opened.goto((report / url).as_uri())
        picture = opened.locator("main img").first
        picture.evaluate("image => image.decode()")
        shots[scheme] = np.asarray(Image.open(io.BytesIO(picture.screenshot())).convert("RGB"))
        context.close()
    backgrounds = {
        scheme: np.median(pixels.reshape(-1, 3), axis=0) for scheme, pixels in shots.items()
    }
    assert backgrounds["light"].min() > 240
    assert backgrounds["dark"].max() < 40
    blue = [0x00, 0x72, 0xB2]  # of the first curve
    for pixels in shots.values():
        assert (np.abs(pixels.astype(int) - blue).max(axis=2) < 30).any()


def test_formulas_are_drawn_by_the_browser(page: Any, report: Path) -> None:
    page.goto((report / "experiments/notes/2.1.3-regularisation.html").as_uri())
    formula = page.locator("main math").first
    assert "λ" in formula.text_content()
    assert formula.get_attribute("alttext").startswith("ln lambda")
    box = formula.bounding_box()
    assert box["width"] > 10
    assert box["height"] > 8


def test_a_sweep_shows_the_printed_value(page: Any, report: Path) -> None:
    page.goto((report / "experiments/fcml/fig-1.15.html").as_uri())
    section = page.locator("section[aria-labelledby=sweeps]")
    words = (
        "The text prints 3 for argmin(loo_loss) at data = olympics-100m-men;"
        " the sweep gives 3 there"
    )
    assert words in " ".join(section.inner_text().split())
    page.get_by_role("link", name="Figure 1.15 over data").click()
    assert "Figure 1.15 prints 3" in page.locator("main img").first.get_attribute("alt")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(browser: Any, report: Path, scheme: str) -> None:
    """Needs axe-core: AXE_CORE is the path of axe.min.js, or npm has installed it."""
    default = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
    axe = Path(os.environ.get("AXE_CORE", default))
    if not axe.is_file():
        pytest.skip("no axe-core on this machine (npm install axe-core; AXE_CORE=.../axe.min.js)")
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    barriers = []
    for path in sorted(report.rglob("*.html")):
        opened.goto(path.as_uri())
        opened.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        opened.evaluate(axe.read_text(encoding="utf-8"))
        names = opened.evaluate("axe.run().then(result => result.violations.map(v => v.id))")
        barriers += [(path.name, name) for name in names]
    context.close()
    assert barriers == []


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


def test_no_link_is_broken_and_nothing_is_loaded_from_the_network(page: Any, report: Path) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    broken = []
    for path in sorted(report.rglob("*.html")):
        page.goto(path.as_uri())
        addresses = page.eval_on_selector_all(
            "a[href], img[src], link[href], script[src]", "all => all.map(e => e.href || e.src)"
        )
        for address in addresses:
            parts = urlparse(address)
            target = Path(unquote(parts.path))
            if parts.scheme == "file" and not target.exists():
                broken.append((path.name, address))
    assert broken == []
    assert {urlparse(address).scheme for address in requested} <= {"file", "data"}


def test_a_sweep_has_a_page_with_its_table_and_figure(page: Any, report: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in (report / "sweeps").glob("*.html")}
    (path,) = (path for path, text in pages.items() if "kfold" in text)
    page.goto(path.as_uri())
    assert "partitions" in page.inner_text("main")
    assert page.locator("table").count() >= 2
    shown = page.eval_on_selector_all("img", "all => all.map(i => [i.src, i.naturalWidth])")
    assert [Path(source).name for source, _ in shown] == ["sweep.svg", "curves.svg"]
    assert all(width > 100 for _, width in shown)
    assert page.get_by_role("link", name="PDF").count() == 0  # drawn on request only
