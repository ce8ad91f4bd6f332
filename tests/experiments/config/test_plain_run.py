"""The fast path without Hydra gives the job and settings that Hydra composes."""

import pytest

from bythebook.experiments.config import catalogue, overrides, plain_run
from bythebook.experiments.config.hydra_compose import hydra_composer

NAME = "fcml/fig-1.15"
WITH_METRIC = [
    n for n in catalogue.experiment_names() if "metric" in catalogue.load_experiment(n).body
][:1]


@pytest.mark.parametrize("data", [None, "", "."])
@pytest.mark.parametrize(
    "words",
    [
        [NAME],
        [f"experiment={NAME}"],
        ["mlapp/17.5.2.3-init-study", "force=true"],
        [NAME, "force=false", "figures=false", "tracking=off"],
        ["tracking=local", "figures=true", NAME],
        ["--outputs", "a folder", NAME],
        [NAME, "--verbose", "figures=false"],
        *([name] for name in WITH_METRIC),
    ],
)
def test_it_is_what_hydra_composes(
    words: list[str], data: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BYTHEBOOK_DATA", raising=False)
    if data is not None:
        monkeypatch.setenv("BYTHEBOOK_DATA", data)
    plain = plain_run.read_plain_run(words)
    assert plain is not None
    line = overrides.parse_command_line(words)
    with hydra_composer(line.overrides, line.config_dirs) as compose:
        composed = compose(line.words)
    composed.settings.outputs = line.outputs or composed.settings.outputs
    job = composed.job_factory.job()
    assert plain.job == job
    assert plain.job.key == job.key
    assert plain.settings == composed.settings
    assert plain.verbose == line.verbose == ("--verbose" in words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["study=polynomial_order"],
        ["fcml/fig-1.1500"],
        ["force=true"],
        [NAME, NAME],
        [NAME, "fcml/fig-1.1"],
        [NAME, "force=true", "force=false"],
        [NAME, "force=True"],
        [NAME, "force=true,false"],
        [NAME, "tracking=server"],
        [NAME, "tracking_uri=x"],
        [NAME, "seed=3"],
        [NAME, "study.folds=3"],
        [NAME, "+force=true"],
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
def test_other_command_lines_are_composed_by_hydra(words: list[str]) -> None:
    assert plain_run.read_plain_run(words) is None
