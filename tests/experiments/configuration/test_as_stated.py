"""Plain command lines are read without Hydra, and mean what Hydra would compose."""

import pytest

from experiments.configuration import arguments, as_stated, catalogue
from experiments.configuration.compose import composer

NAME = "fcml/fig-1.15"
WITH_METRIC = [n for n in catalogue.names() if "metric" in catalogue.read(n).body][:1]


@pytest.mark.parametrize("data", [None, "", "."])
@pytest.mark.parametrize(
    "words",
    [
        [NAME],
        [f"experiment={NAME}"],
        ["mlapp/17.5.2.3-init-study", "fresh=true"],
        [NAME, "fresh=false", "figures=false", "tracking=off"],
        ["tracking=local", "figures=true", NAME],
        ["--outputs", "some where", NAME],
        *([name] for name in WITH_METRIC),
    ],
)
def test_it_is_what_hydra_composes(
    words: list[str], data: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BOOK_DATA", raising=False)
    if data is not None:
        monkeypatch.setenv("BOOK_DATA", data)
    stated = as_stated.read(words)
    assert stated is not None
    given = arguments.read(words)
    with composer(given.overrides, given.config_dirs) as compose:
        composed = compose(given.words)
    composed.settings.outputs = given.outputs or composed.settings.outputs
    job = composed.template.job()
    assert stated.job == job
    assert stated.job.key == job.key
    assert stated.settings == composed.settings


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["study=polynomial_order"],
        ["fcml/fig-1.1500"],
        ["fresh=true"],
        [NAME, NAME],
        [NAME, "fcml/fig-1.1"],
        [NAME, "fresh=true", "fresh=false"],
        [NAME, "fresh=True"],
        [NAME, "fresh=true,false"],
        [NAME, "tracking=server"],
        [NAME, "tracking.uri=x"],
        [NAME, "seed=3"],
        [NAME, "study.folds=3"],
        [NAME, "+fresh=true"],
        [NAME, "outputs=x"],
        [NAME, "-m"],
        [NAME, "--dry-run"],
        [NAME, "--cfg", "job"],
        [NAME, "--help"],
        [NAME, "--outputs"],
        [NAME, "--outputs", ""],
        [NAME, "--outputs", "--dry-run"],
        [NAME, "--outputs", "a", "--outputs", "b"],
        [NAME, "--outputs=x"],
        [NAME, "--tag", "a=b"],
        [NAME, "--config-dir", "x"],
        [f"+experiment={NAME}"],
        [f"experiment={NAME},fcml/fig-1.1"],
        [f"experiment='{NAME}'"],
    ],
)
def test_all_else_is_left_to_hydra(words: list[str]) -> None:
    assert as_stated.read(words) is None
