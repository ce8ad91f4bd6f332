"""Every experiment file is whole; a faulty one is named with its fault."""

from pathlib import Path

import pytest

from experiments.configuration import catalogue
from experiments.configuration.build import experiment_job
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


def test_experiments_come_in_the_books_order() -> None:
    figures = [name for name in NAMES if name.startswith("fcml/fig-1.")]
    numbers = [int(name.split(".")[1]) for name in figures if name.split(".")[1].isdigit()]
    assert numbers == sorted(numbers)


STUDY = "defaults:\n  - override /study: polynomial_order\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("source: {book: fcml}\n", "defaults must be"),
        ("defaults: [override /study: a, override /tracking: off]\n", "defaults must be"),
        (f"{STUDY}seed: 1\nseed: 2\n", "given twice"),
        ("defaults: [\n", "while parsing"),
        ("a: &a [1]\nb: [" + "*a," * 21 + "]\n", "more than 20 aliases"),
        (f"{STUDY}# {'x' * catalogue.LARGEST}\n", "more than 200,000 bytes"),
    ],
)
def test_a_faulty_file_is_named_with_its_fault(text: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(f"# @package _global_\n{text}")
    with pytest.raises(BadInput, match=complaint) as caught:
        catalogue.read_file(file, "fcml/broken")
    assert "broken.yaml" in str(caught.value)
