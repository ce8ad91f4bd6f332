"""Every experiment file is whole, and says the same with and without Hydra."""

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
from experiments.configuration.compose import composer
from experiments.contract.errors import BadInput

NAMES = catalogue.names()


def test_there_are_experiments_in_every_book() -> None:
    assert {name.split("/")[0] for name in NAMES} <= set(catalogue.BOOKS)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_file_is_whole(name: str) -> None:
    job = experiment_job(name)
    source = job.source
    assert source.book == name.split("/")[0]
    assert source.item
    assert source.title
    assert source.section
    assert job.claims, "a result without a claim proves nothing"
    assert len({claim.says for claim in job.claims}) == len(job.claims)


def test_reading_the_files_gives_what_hydra_composes() -> None:
    chosen = list({catalogue.read(name).study: name for name in NAMES}.values())  # one a study
    with composer([], []) as compose:
        for name in chosen:
            composed = compose([f"experiment={name}"]).template.job()
            assert composed == experiment_job(name), name
            assert composed.key == experiment_job(name).key  # 2 and 2.0 are equal, not in a record


def test_experiments_come_in_the_books_order() -> None:
    figures = [name for name in NAMES if name.startswith("fcml/fig-1.")]
    numbers = [int(name.split(".")[1]) for name in figures if name.split(".")[1].isdigit()]
    assert numbers == sorted(numbers)


def test_selection() -> None:
    assert catalogue.select([]) == NAMES
    assert set(catalogue.select(["fcml"])) == {n for n in NAMES if n.startswith("fcml/")}
    assert catalogue.select(["fcml/fig-1.15", "fcml/fig-1.15"]) == ["fcml/fig-1.15"]
    assert "fcml/fig-1.15" in catalogue.select(["study:polynomial_order"])
    with pytest.raises(BadInput, match="selects nothing"):
        catalogue.select(["fcml/fig-0.0"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("source: {book: fcml}\n", "defaults must be"),
        ("defaults: [override /study: a, override /tracking: off]\n", "defaults must be"),
        ("defaults:\n  - override /study: polynomial_order\nseed: 1\nseed: 2\n", "given twice"),
        ("defaults: [\n", "while parsing"),
        ("defaults:\n  - override /study: polynomial_order\nsede: 1\n", "no 'sede'"),
        (
            "defaults:\n  - override /study: polynomial_order\nstudy: {orders: [-1]}\n",
            "-1 is not allowed",
        ),
        (
            "defaults:\n  - override /study: polynomial_order\nstudy: {ordrs: [1]}\n",
            "no .*'ordrs'|ordrs",
        ),
        ("defaults:\n  - override /study: polynomial_odor\n", "no study 'polynomial_odor'"),
        ("defaults:\n  - override /study: polynomial_order\nhydra: {}\n", "states science"),
        ("defaults:\n  - override /study: polynomial_order\noutputs: /tmp\n", "states science"),
        ("a: &a [1]\nb: [" + "*a," * 21 + "]\n", "more than 20 aliases"),
    ],
)
def test_a_faulty_file_is_named_with_its_fault(
    text: str, complaint: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path)) / "experiment" / "fcml"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text(f"# @package _global_\n{text}")
    monkeypatch.setattr(catalogue, "ROOT", Path(str(tmp_path)))
    monkeypatch.setattr(catalogue, "names", lambda: ["fcml/broken"])
    experiment_job.cache_clear()
    try:
        with pytest.raises(BadInput, match=complaint) as caught:
            experiment_job("fcml/broken")
        assert "broken.yaml" in str(caught.value)
    finally:
        experiment_job.cache_clear()
