"""The registry imports a study when it is accessed; declarations, and calls of a study."""

import subprocess
import sys
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.random import Generator

from bythebook.experiments.config.validation import JobFactory, load_job
from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.errors import InputError
from bythebook.experiments.core.outcome import Outcome, diff_outcomes, outcome
from bythebook.experiments.core.registry import study_topics
from bythebook.experiments.core.study import Study, StudyRegistry, studies
from bythebook.experiments.execution.worker import compute


def test_every_module_defines_the_study_of_its_name() -> None:
    assert {name: kind.topic for name, kind in studies().items()} == study_topics()
    assert list(studies()) == sorted(studies())


def test_one_study_does_not_load_the_others() -> None:
    code = (
        "import sys; from bythebook.experiments.core.study import studies;"
        "from bythebook.experiments.config.code_hash import imported_modules;"
        "studies()['ridge_path'];"
        "imported_modules('bythebook.experiments.studies.regression.ridge_path');"
        "print([m for m in ('scipy.stats', 'bythebook.models.classification.roc',"
        " 'bythebook.experiments.studies.regression.polynomial_order')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_module_that_cannot_be_imported_affects_its_own_study_only() -> None:
    some = StudyRegistry({"ridge_path": "regression", "missing": "missing"})
    assert some["ridge_path"].name == "ridge_path"
    with pytest.raises(
        InputError, match=r"the study module missing\.missing could not be imported"
    ):
        some["missing"]
    assert some.get("unheard of") is None


# Quantities and calls


def studied(**attributes: Any) -> type[Study]:
    """A study over an axis n, with these class attributes."""

    def run(self: Study, rng: Generator) -> Outcome:
        return outcome({"n": 3}, loss=("n", rng.random(3)), best=2)

    return type("Made", (Study,), {"run": run, **attributes})


LOSS, BEST = quantity("mean squared error", "n", unit="s^2"), quantity("best n")


def test_a_call_returns_the_outcome_with_its_meanings() -> None:
    made = studied(quantities={"loss": LOSS, "best": BEST}, axes={"n": axis_of("points")})
    found = made()(seed=4)
    assert found["loss"].values.tolist() == np.random.default_rng(4).random(3).tolist()
    assert found["loss"].declaration == LOSS
    assert found.axes["n"].declaration == axis_of("points")
    assert "mean squared error [s^2]" in repr(found)
    assert made()()["loss"].values.tolist() == np.random.default_rng(0).random(3).tolist()


def test_a_call_equals_a_run_of_the_pipeline() -> None:
    kind = studies()["polynomial_order"]
    knobs: dict[str, Any] = {"data": None, "curve": "sine"}
    job = JobFactory("polynomial_order", {"study": knobs, "seed": 5}, None, None).job()
    assert diff_outcomes(kind(**knobs)(5), compute(job).outcome) == []  # type: ignore[call-arg]


def test_an_undeclared_quantity_raises() -> None:
    made = studied(quantities={"loss": LOSS})
    assert made.declares_all
    with pytest.raises(ValueError, match="the quantity 'best' is not declared"):
        made()()
    partly = studied(quantities={"loss": LOSS}, more_quantities=True)
    assert not partly.declares_all
    assert partly()()["best"].item == 2
    assert studied()()()["best"].item == 2  # without declarations nothing is checked


def test_a_quantity_over_other_axes_raises() -> None:
    for more in (True, False):
        made = studied(
            quantities={"loss": LOSS, "best": quantity("best", "n")}, more_quantities=more
        )
        with pytest.raises(ValueError, match="'best' is over no axis; declared: n"):
            made()()


def test_the_pipeline_checks_the_declarations(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, job = studies()["polynomial_order"], load_job("fcml/fig-1.15")
    monkeypatch.setattr(kind, "quantities", {"inputs": quantity("inputs", "point")})
    with pytest.raises(ValueError, match="the quantity 'targets' is not declared"):
        compute(job)


def test_declarations_are_inherited_and_are_no_knobs() -> None:
    base = studied(quantities={"loss": LOSS}, axes={"n": axis_of("points")})
    child: type[Study] = type("Child", (base,), {"quantities": {"best": BEST}})
    silent: type[Study] = type("Silent", (base,), {})
    assert child.quantities == {"loss": LOSS, "best": BEST}
    assert child.axes == {"n": axis_of("points")}
    assert base.quantities == {"loss": LOSS}
    assert not silent.declares_all  # it may compute more than its base

    @dataclass
    class Annotated(base):  # type: ignore[valid-type, misc]
        quantities: ClassVar = {"loss": LOSS}
        points: int = 3

    assert [field.name for field in fields(Annotated)] == ["points"]
    for name in ("quantities", "axes", "compute"):
        with pytest.raises(TypeError, match=f"a parameter may not be called {name}"):
            type("Wrong", (Study,), {"__annotations__": {name: int}})
