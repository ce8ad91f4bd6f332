"""Results that consist of equations: their files, their runs, and commands that refuse them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bythebook.experiments.cli.main import main
from bythebook.experiments.config import catalogue
from bythebook.experiments.config.catalogue import load_experiment_file, load_heading
from bythebook.experiments.config.validation import JobFactory, load_job
from bythebook.experiments.core.claims import Claim
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.store.run_store import RunStore

NAMES = [
    name for name in catalogue.experiment_names() if load_heading(name).study == catalogue.EQUATIONS
]
CLAIM = {"equation": "prml.expected_mixing", "says": "the expected mixing coefficients"}
ERRATUM = {**CLAIM, "expect": "erratum", "cause": "points-counted-twice"}


def test_a_file_without_defaults_names_equations_only(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    head = "# @package _global_\nsource:\n  book: prml\n"
    path.write_text(f"{head}claims:\n  - {{equation: prml.f, says: a}}\n")
    assert load_experiment_file(path, "a").study == catalogue.EQUATIONS
    path.write_text(
        f"{head}claims:\n  - {{equation: prml.f, says: a}}\n  - {{holds: a, says: b}}\n"
    )
    with pytest.raises(InputError, match="defaults must be"):
        load_experiment_file(path, "a")


def test_a_run_records_the_gaps_and_is_judged(outputs: Path) -> None:
    assert main(["run", NAMES[0], "tracking=off"]) == 0
    record = RunStore(outputs).latest_run(NAMES[0])
    assert record is not None
    assert set(record.equations) == {claim.equation for claim in load_job(NAMES[0]).claims}
    assert all(gaps["cases"] == 20 for gaps in record.equations.values())
    assert {verdict["kind"] for verdict in record.verdicts} == {"equation"}
    assert not record.unexpected_verdicts
    assert main(["verify", record.id]) == 0
    assert main(["run", f"experiment={NAMES[0]}", "limits.timeout=60", "tracking=off"]) == 0
    assert len(list((outputs / "runs" / NAMES[0]).glob("*/run.json"))) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("run", "experiment=NAME", "seed=1"),
        ("run", "-m", "experiment=NAME", "seed=1,2"),
        ("notebook", "NAME"),
        ("figures", "NAME"),
        ("explore", "NAME"),
    ],
)
def test_a_command_for_parameters_says_that_there_are_none(
    words: tuple[str, ...], refused: Callable[..., str], outputs: Path
) -> None:
    line = refused(*(word.replace("NAME", NAMES[0]) for word in words))
    assert f"{NAMES[0]} consists of equations and has no parameters" in line


def judged(claim: dict[str, str]) -> JobFactory:
    return JobFactory(
        catalogue.EQUATIONS, {"claims": [claim], "source": {"book": "prml"}}, None, None
    )


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"printed": "3"}, "does not take `printed`"),
        ({"instead": "a == 1"}, "does not take `instead`"),
        ({"corrected": "3"}, "does not take `corrected`"),
        ({"value": "a"}, "does not take `value`"),
        ({"needs": "data"}, "does not take `needs`"),
        ({"expect": "untested"}, "expect=untested is not allowed"),
        ({"expect": "differs"}, "requires `why`"),
        ({"cause": "x"}, "`cause` requires"),
        ({"equation": "prml.nothing"}, "there is no equation 'prml.nothing'"),
    ],
)
def test_an_invalid_claim_is_refused(more: dict[str, str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        judged({**CLAIM, **more})


def test_a_claim_expects_that_the_equation_holds() -> None:
    assert judged(CLAIM).published.claims[0].expected_verdict() == "holds"
    claim = judged(ERRATUM).published.claims[0]
    assert (claim.expected_verdict(), claim.kind) == ("erratum", "equation")
    assert isinstance(claim, Claim)


def test_the_key_contains_the_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    job = load_job(NAMES[0])
    before = job.key
    monkeypatch.setattr("bythebook.experiments.config.job.equation_code_hash", lambda name: "other")
    assert job.with_key(None).key == before, "the key is computed once"
    del vars(job)["key"]
    assert job.key != before
    del vars(job)["key"]
