"""The MLflow UI as `bythebook ui` opens it: the runs are listed, the figure is shown."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.core.study import studies

pytestmark = pytest.mark.filterwarnings("ignore")
SWEEP = "partitions 2 to 26 (25), 2 seeds (polynomial_order)"  # as MLflow names it


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[str]:
    """A served store with one run and one sweep of fifty."""
    outputs = tmp_path_factory.mktemp("outputs")
    shutil.copyfile(empty_store, outputs / "mlflow.db")
    assert main(["reproduce", "fcml/fig-1.15", "--outputs", str(outputs)]) == 0
    sweep = [
        "run",
        "-m",
        "study=polynomial_order",
        "study.folds=[5]",
        "study.partitions=range(2,27)",
    ]
    assert main([*sweep, "seed=0,1", f"outputs={outputs}"]) == 0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "bythebook", "ui", "polynomial_order", "--no-browser"]
    server = subprocess.Popen(
        [*command, "--port", str(port), "--outputs", str(outputs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    printed = server.stdout.readline().strip()
    try:
        assert "Ctrl-C" in server.stdout.readline()
        assert "runs with added figures: 1 (" in server.stdout.readline()  # reproduce draws none
        yield printed
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_ui_opens_on_the_runs_and_not_on_the_cells(page: Any, address: str) -> None:
    assert re.match(r"http://127\.0\.0\.1:\d+/#/experiments/\d+/runs\?", address)
    page.goto(address)
    page.get_by_text("Figure 1.15", exact=True).first.wait_for(timeout=60_000)
    page.get_by_text(SWEEP).first.wait_for(timeout=60_000)
    assert page.get_by_text("partitions=2, seed=0").count() == 0
    page.get_by_text("2 matching runs").wait_for(timeout=60_000)


def test_from_the_first_page_to_a_figure_and_to_a_sweeps_chart(page: Any, address: str) -> None:
    """By clicks alone: no page for language models on the way, verdicts and metrics in the list."""
    page.goto(address.partition("#")[0])
    page.get_by_role("link", name="Experiments").first.click()
    page.get_by_text("polynomial_order", exact=True).first.click()
    page.get_by_text("Figure 1.15", exact=True).first.wait_for(timeout=60_000)
    assert "/runs" in page.url
    words = page.inner_text("body")
    for column in ("verdict", "item", "loo_best_order"):
        assert column in words
    assert "reproduced" in words
    described = (studies()["polynomial_order"].__doc__ or "").splitlines()[0]
    assert described.rstrip(".") in words
    page.get_by_text("Figure 1.15", exact=True).first.click()
    page.get_by_text("Show more").first.click()
    wait_for_image(page, "figures")
    page.go_back()
    page.get_by_text(SWEEP).first.click()
    page.get_by_role("tab", name="Model metrics").click()
    wait_for_image(page, "images/at a glance~figure")


def test_a_run_shows_its_claims_and_its_figure(page: Any, address: str) -> None:
    page.goto(address)
    page.get_by_text("Figure 1.15", exact=True).first.click()
    page.get_by_text("leave-one-out cross-validation selects polynomial order 3").wait_for(
        timeout=60_000
    )
    page.get_by_text("Show more").first.click()
    wait_for_image(page, "figures")


def wait_for_image(page: Any, folder: str) -> None:
    """Until an artifact from this folder is shown, loaded."""
    page.wait_for_function(
        "folder => [...document.images].some(image => image.naturalWidth > 100"
        " && decodeURIComponent(image.src).includes(`get-artifact?path=${folder}`))",
        arg=folder,
        timeout=60_000,
    )


@pytest.mark.parametrize("name", ["Figure 1.15", SWEEP])
def test_the_figure_is_the_first_of_the_charts(page: Any, address: str, name: str) -> None:
    page.goto(address)
    page.get_by_text(name, exact=True).first.click()
    page.get_by_role("tab", name="Model metrics").click()
    wait_for_image(page, "images/at a glance~figure")
    words = page.inner_text("body")
    assert 0 < words.index("at a glance") < words.index("curves")


def test_the_figures_of_several_runs_are_one_chart(page: Any, address: str) -> None:
    page.goto(f"{address}&compareRunsMode=CHART")
    wait_for_image(page, "images/at a glance~figure")
    assert page.get_by_text("at a glance/figure", exact=True).count() == 1


def test_a_sweep_shows_its_figure(page: Any, address: str) -> None:
    page.goto(address)
    page.get_by_text(SWEEP).first.click()
    page.get_by_text("partitions=26, seed=1").first.wait_for(timeout=60_000)
    page.get_by_text("Show more").first.click()
    wait_for_image(page, "sweep.png")
